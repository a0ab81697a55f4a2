"""Hostile arguments, chosen by the type a schema asks for and now and then of another type."""

from __future__ import annotations

import random
from typing import Any

import torch_py as torch

SHAPES = (
    (),
    (0,),
    (1,),
    (3,),
    (2, 3),
    (3, 3),
    (0, 3),
    (3, 0),
    (4, 4),
    (2, 1, 3),
    (2, 3, 4),
    (1, 2, 4, 4),
    (2, 2, 2, 2, 2),
    (1,) * 9,
)
# Those that appear most are in front.
DTYPES = (
    torch.float32,
    torch.int64,
    torch.float64,
    torch.bool,
    torch.complex64,
    torch.float16,
    torch.bfloat16,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.complex128,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.complex32,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e8m0fnu,
)
INTEGERS = (0, 1, -1, 2, 3, -2, 5, 100, 2**31 - 1, -(2**31), 2**31, 2**40, 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, 1.5, -1.0, 1e-320, 1e308, float("inf"), float("nan"))
LISTS = (
    (),
    (0,),
    (1,),
    (-1,),
    (0, 1),
    (1, 0),
    (0, 0),
    (2, 2),
    (-1, -2),
    (3, 3),
    (1, -1),
    (1, 1, 1),
    (2, 3, 4, 5),
    (1,) * 70,
    (2**62, 2**62),
    (2**31, 2**33),
    (2**63 - 1, 2),
    (0, 2**62, 2**62),
    (1, -(2**63)),
    (2**63 - 1,) * 3,
)
TEXTS = (
    "none",
    "tanh",
    "mean",
    "sum",
    "floor",
    "trunc",
    "ij",
    "xy",
    "same",
    "valid",
    "",
    "x",
    "\0",
    "\ud800",
)
WORDS = (
    torch.strided,
    torch.contiguous_format,
    torch.channels_last,
    torch.preserve_format,
    torch.device("cpu"),
    torch.device("meta"),
    torch.float32,
    torch.int64,
    torch.bool,
    torch.default_generator,
    None,
    True,
    False,
    "mean",
    object(),
    {},
    [],
    (None,),
    slice(None),
    slice(1, -1, 2),
    Ellipsis,
    int,
    2**63,
    1j,
    ((1, 2), (3,)),
)


def tensor(dice: random.Random, shape: tuple[int, ...] | None = None) -> torch.Tensor:
    dtype = dice.choice(DTYPES if dice.random() < 0.4 else DTYPES[:3])
    shape = dice.choice(SHAPES) if shape is None else shape
    if dice.random() < 0.08:
        return torch.empty(shape, dtype=dtype, device="meta")
    values = torch.rand(shape, dtype=torch.float64) * dice.choice(
        (1, 3, -3, 1e30, float("inf"), float("nan"))
    )
    return _of_unusual_layout(dice, values.to(dtype))


def _of_unusual_layout(dice: random.Random, values: torch.Tensor) -> torch.Tensor:
    chance = dice.random()
    if values.dim() > 1 and chance < 0.15:
        return values.transpose(0, -1)
    if values.dim() > 0 and values.shape[0] > 0 and chance < 0.25:
        return values[:1].expand(values.shape)
    if values.dim() > 0 and chance < 0.35:
        return torch.cat([values, values], 0)[::2]
    if values.is_floating_point() and chance < 0.5:
        return values.detach().requires_grad_()
    return values


def _integers(dice: random.Random) -> Any:
    return dice.choice(INTEGERS if dice.random() < 0.4 else INTEGERS[:6])


def _tensors(dice: random.Random, optional: bool) -> Any:
    shape = dice.choice(SHAPES) if dice.random() < 0.5 else None
    return [
        None if optional and dice.random() < 0.3 else tensor(dice, shape)
        for _ in range(dice.choice((0, 1, 2, 3)))
    ]


def anything(dice: random.Random) -> Any:
    chance = dice.random()
    if chance < 0.45:
        return tensor(dice)
    if chance < 0.7:
        return _integers(dice)
    if chance < 0.78:
        return dice.choice(FLOATS)
    if chance < 0.88:
        return dice.choice(LISTS)
    return _tensors(dice, optional=True) if chance < 0.92 else dice.choice(WORDS)


def of_type(dice: random.Random, kind: str, shape: tuple[int, ...] | None) -> Any:
    """A value for an argument of the schema type ``kind``: usually of that type.

    Tensors of a call often share ``shape``.
    """
    if dice.random() < 0.05:
        return anything(dice)
    if kind.endswith("?") and dice.random() < 0.3:
        return None

    kind = kind.removesuffix("?")
    if kind.startswith("Tensor") and kind.endswith("[]"):
        return _tensors(dice, optional="?" in kind)
    if kind.startswith("Tensor"):
        return tensor(dice, shape if dice.random() < 0.6 else None)
    if kind.endswith("]"):
        return dice.choice(LISTS) if dice.random() < 0.8 else _integers(dice)
    return _of_simple_type(dice, kind)


def _of_simple_type(dice: random.Random, kind: str) -> Any:
    if kind in ("int", "SymInt"):
        return _integers(dice)
    if kind == "Scalar":
        return dice.choice((_integers(dice), dice.choice(FLOATS), True, 1j))
    if kind == "float":
        return dice.choice(FLOATS)
    if kind == "bool":
        return dice.choice((True, False))
    if kind == "str":
        return dice.choice(TEXTS)
    if kind == "ScalarType":
        return dice.choice(DTYPES)
    if kind == "Device":
        return torch.device(dice.choice(("cpu", "meta")))

    return anything(dice)


def describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        layout = "" if value.is_contiguous() else f", strides {tuple(value.stride())}"
        grad = ", requires grad" if value.requires_grad else ""
        return f"<{value.dtype} {tuple(value.shape)} on {value.device}{layout}{grad}>"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(describe, value)) + "]"
    return repr(value)
