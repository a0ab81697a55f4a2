"""Values for parameters of layers, functions and optimizers: working ones by name, and hostile ones."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from .peer import Spec


def floats(*shape: int) -> Spec:
    """Different numbers between -1 and 1, the same for every library."""
    count = int(np.prod(shape))
    return Spec(
        (np.sin(np.arange(count) * 1.7) * 0.9).astype("float32").reshape(shape), "float32", "contiguous"
    )


def indices(*shape: int) -> Spec:
    return Spec((np.arange(int(np.prod(shape))) % 3 + 1).reshape(shape), "int64", "contiguous")


class Name:
    """A dtype of either library, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


_IMAGES = (
    floats(2, 4),
    floats(2, 4, 8),
    floats(2, 4, 8, 8),
    floats(2, 4, 6, 6, 6),
    floats(2, 4, 9),
    floats(4),
    indices(2, 4),
)
_WEIGHTS = (
    floats(4, 4),
    floats(4),
    floats(4, 4, 2),
    floats(4, 4, 2, 2),
    floats(4, 4, 2, 2, 2),
    floats(5, 4),
    floats(4, 1, 2),
    floats(3, 4, 4),
)
_POSITIVE = Spec(np.full(4, 0.5, "float32"), "float32", "contiguous")
_GRID = floats(2, 3, 3, 2)

# What a parameter of a name is given when it has no default: the first combination that PyTorch takes is the
# start of all calls.
BY_NAME: dict[str, tuple[Any, ...]] = {
    "input": (*_IMAGES, floats(3, 2, 4), floats(8, 2, 4), indices(2), _POSITIVE),
    "x": _IMAGES[:1],
    "target": (floats(2, 4), _POSITIVE, indices(2), floats(2), indices(2, 4)),
    "targets": (indices(2, 4),),
    "log_probs": (floats(8, 2, 4),),
    "input_lengths": (indices(2),),
    "target_lengths": (indices(2),),
    "weight": _WEIGHTS,
    "bias": (floats(4), floats(3)),
    "running_mean": (floats(4),),
    "running_var": (_POSITIVE,),
    "indices": (indices(2, 4), indices(2, 4, 8), indices(2, 4, 6, 6, 6)),
    "tensor": (floats(4, 4), floats(4, 4, 3), floats(4, 4, 3, 3)),
    "grid": (_GRID,),
    "theta": (floats(2, 2, 3),),
    "size": ((2, 1, 3, 3), (4, 4), 4),
    "pad": ((1, 1),),
    "normalized_shape": ((4,), 4),
    "kernel_size": (2,),
    "output_size": (2, (4, 4)),
    "unflattened_size": ((2, 2),),
    "dim": (1, 0),
    "cutoffs": ([2],),
    "padding": (1, (1, 1)),
    "num_layers": (1,),
    "num_groups": (2,),
    "num_heads": (2,),
    "nhead": (2,),
    "groups": (2,),
    "upscale_factor": (2,),
    "downscale_factor": (2,),
    "norm_type": (2.0,),
    "threshold": (0.1,),
    "value": (0.5, 20.0, floats(2, 4)),
    "val": (0.5,),
    "sparsity": (0.5,),
    "nonlinearity": ("relu",),
    "param": (2,),
    "p": (0.5,),
    "lr": (0.1,),
    "step_size": (2,),
    "milestones": ([2, 4],),
    "gamma": (0.5,),
    "total_iters": (4,),
    "T_max": (4,),
    "T_0": (2,),
    "base_lr": (0.01,),
    "max_lr": (0.1,),
    "total_steps": (8,),
    "lr_lambda": (None,),
    "hidden_size": (4,),
    "num_embeddings": (5,),
    "n_classes": (4,),
    "num_classes": (4,),
    "dim_feedforward": (8,),
    "var": (Spec(np.full((2, 4), 0.5, "float32"), "float32", "contiguous"),),
    "q": (0.5,),
    "fan": (4,),
    "in_proj_weight": (floats(12, 4),),
    "offsets": (indices(2),),
}

_TENSOR_NAMES = """
    input input1 input2 x1 x2 target query key value src tgt memory anchor positive negative
    weight bias hx mask indices var attn_mask
""".split()

_ODD = (None, "x", 1.5, (), (1,), (1, 2, 3, 4), -1, 0, object)
_POOLS: dict[str, tuple[Any, ...]] = {
    "bool": (True, False, None, 0, 1, 2, "x", 1.5, ()),
    "int": (0, -1, 1, 2, 3, 5, None, 1.5, float("nan"), "x", (1,), (2, 2), (1, 2, 3, 4), ()),
    "float": (0.0, -1.0, float("nan"), float("inf"), 2.0, 0.5, None, "x", 1, (), 1j),
    "str": (
        "none",
        "mean",
        "sum",
        "x",
        "",
        None,
        1,
        "zeros",
        "reflect",
        "replicate",
        "circular",
        "same",
        "valid",
        "relu",
        "gelu",
        "tanh",
        "bilinear",
        "nearest",
        "area",
        "linear",
        "fan_in",
        "batchmean",
        "max",
        "min",
        "abs",
        "rel",
        "triangular2",
    ),
    "tuple": (
        (),
        (1,),
        (2, 2),
        (0, 0),
        (-1, 1),
        (1, 2, 3, 4),
        (0.5, 0.999),
        (1.5, 0.9),
        None,
        1,
        0,
        -1,
        "x",
        1.5,
        [1, 1],
    ),
    "dtype": (Name("float64"), Name("int64"), Name("bool"), Name("float16"), Name("complex64"), None, "x"),
}


def kind_of(name: str, default: Any) -> str:
    """By what a parameter holds: its default, or what works."""
    if name == "dtype":
        return "dtype"
    if isinstance(default, Spec):
        return "tensor"

    for kind, types in (
        ("bool", bool),
        ("int", int),
        ("float", float),
        ("str", str),
        ("tuple", (tuple, list)),
    ):
        if isinstance(default, types):  # type: ignore[arg-type]
            return kind

    return "tensor" if name in _TENSOR_NAMES else "any"


def bad(dice: random.Random, name: str, current: Any) -> Any:
    """Instead of ``current``: of its type or, now and then, of another."""
    kind = kind_of(name, current)
    if kind == "any" or dice.random() < 0.1:
        return dice.choice(_ODD)
    if kind == "tensor":
        return (
            dice.choice((None, 1, "x", floats(2, 4)))
            if not isinstance(current, Spec) or dice.random() < 0.1
            else _changed(dice, current)
        )
    return dice.choice(_POOLS[kind])


def _changed(dice: random.Random, spec: Spec) -> Spec:
    change = dice.randrange(6)

    if change == 0:
        return Spec(spec.values.reshape(1, *spec.values.shape), spec.dtype, "contiguous")
    if change == 1 and spec.values.ndim > 0:
        return Spec(np.array(spec.values[0]), spec.dtype, "contiguous")
    if change == 2 and spec.values.ndim > 0:
        return _resized(dice, spec)
    if change == 3:
        return _of_dtype(
            spec, dice.choice(("float64", "float16", "int64", "bool", "complex64", "int32", "bfloat16"))
        )
    if change == 4 and spec.values.size:
        values = np.array(spec.values)
        odd = (-1, 0, 100) if values.dtype.kind == "i" else (np.nan, np.inf, -np.inf, 0.0, 2.0)
        values.reshape(-1)[dice.randrange(values.size)] = dice.choice(odd)
        return Spec(values, spec.dtype, "contiguous")

    return Spec(
        spec.values, spec.dtype, dice.choice(("transposed", "strided", "expanded", "offset", "channels_last"))
    )


def _resized(dice: random.Random, spec: Spec) -> Spec:
    """One dimension becomes empty, shorter or longer."""
    shape = list(spec.values.shape)
    chosen = dice.randrange(len(shape))
    shape[chosen] = dice.choice((0, 1, max(shape[chosen] - 1, 0), shape[chosen] + 1))
    made = indices(*shape) if spec.dtype == "int64" else floats(*shape)
    return Spec(made.values.astype(spec.values.dtype), spec.dtype, "contiguous")


def _of_dtype(spec: Spec, dtype: str) -> Spec:
    return Spec(spec.values.astype("float32" if dtype == "bfloat16" else dtype), dtype, "contiguous")


def built(value: Any, module: Any) -> Any:
    """``value`` for one of the libraries."""
    if isinstance(value, Spec):
        return value.build(module)
    return getattr(module, value.name) if isinstance(value, Name) else value


def text_of(value: Any) -> str:
    """Tensors by what is unusual about them."""
    if not isinstance(value, Spec):
        return repr(value)
    usual = indices(*value.values.shape) if value.values.dtype.kind == "i" else floats(*value.values.shape)
    items = () if value.values.dtype.kind in "bc" else value.values.reshape(-1)
    changed = [item for item in items if item not in usual.values and abs(item) != 0.5]
    layout = "" if value.layout == "contiguous" else f" {value.layout}"
    return (
        f"<{value.dtype} "
        f"{value.values.shape}{layout}{' with ' + str(changed[0]) if len(changed) == 1 else ''}>"
    )
