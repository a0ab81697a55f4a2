"""What random programs are called with: first what they were written for, then something else.

Compiled code must notice everything about its arguments and their circumstances that it depends on. So the
last call of many programs differs from those that they were compiled for: in layouts, shared memory, dtypes,
what needs gradients, containers, attributes and modes.
"""

from __future__ import annotations

import contextlib
import math
import random
from collections.abc import Callable
from typing import Any, NamedTuple
from unittest import mock

import torch_py as torch
from torch_py import nn

_SHARE_ALTERED = 0.5  # of the programs


class State:
    """An object whose attributes programs read and write."""

    def __init__(self) -> None:
        self.count = 0
        self.scale = torch.full((1,), 1.5)
        self.layer = nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6), nn.Dropout(0.25))

    @property
    def twice(self) -> int:
        return self.count * 2

    @property
    def level(self) -> int:
        return self.count + 100

    @level.setter
    def level(self, value: int) -> None:
        self.count = value

    def scaled(self, value: Any, *more: Any) -> Any:
        return sum(more, value * self.scale)


class OtherState(State):
    """One whose class answers otherwise."""

    @property
    def twice(self) -> int:
        return self.count * 2 + 1

    def scaled(self, value: Any, *more: Any) -> Any:
        return value - self.scale


class Doubled(torch.autograd.Function):
    """One whose derivative is not that of what it computes."""

    @staticmethod
    def forward(ctx: Any, value: Any, factor: Any = 2.0) -> Any:
        ctx.save_for_backward(value)
        ctx.factor = factor
        return value * factor

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        (value,) = ctx.saved_tensors
        return gradient * (ctx.factor + value), None


class Arguments(NamedTuple):
    """Those of ``def program(x, y, w, n, items, settings, state)``."""

    x: torch.Tensor
    y: torch.Tensor
    w: torch.Tensor
    n: Any
    items: list[Any]
    settings: dict[str, Any]
    state: State


def new_globals() -> dict[str, Any]:
    """What the text of a program refers to."""
    return {"torch": torch, "math": math, "Doubled": Doubled, "counts": {"runs": 0}}


def arguments(number: int, more: int = 0) -> Arguments:
    """Those of program `number`, new ones at each call, with integers that are `more` than those that it was
    written for. `items` has a tensor that shares memory with `x`."""
    generator = torch.Generator().manual_seed(number)
    rows = 3 + number % 3
    x = torch.randn(rows, 6, generator=generator)
    y = torch.randn(rows, 6, generator=generator)
    w = torch.randn(6, 6, generator=generator).requires_grad_(number % 4 != 0)
    items = [x[1:], 2.0, torch.ones(rows, 6)]
    settings = {"flag": number % 2, "n": 1 + more, "scale": 0.5}
    return Arguments(x, y, w, number % 5 + more, items, settings, State())


def altered(number: int, given: Arguments) -> tuple[Arguments, contextlib.AbstractContextManager[Any]]:
    """Arguments for the last call of program `number`, and what to call it in; as they are for some."""
    dice = random.Random(f"altered {number}")
    mode: contextlib.AbstractContextManager[Any] = contextlib.nullcontext()
    if dice.random() > _SHARE_ALTERED:
        return given, mode

    for alter in dice.sample(_ALTERATIONS, k=dice.choice((1, 1, 2))):
        with contextlib.suppress(RuntimeError):  # some do not fit together
            given = given._replace(**alter(given))
    if dice.random() < 0.3:
        mode = dice.choice(_MODES)()
    return given, mode


# Layouts and memory


def _after_other_rows(x: torch.Tensor) -> torch.Tensor:
    return torch.cat([x.new_zeros(2, 6), x])[2:]


def _overlapping(given: Arguments) -> dict[str, Any]:
    base = torch.cat([given.x, given.y[:1]])
    return {"x": base[:-1], "y": base[1:]}


def _of_a_wide_one(y: torch.Tensor) -> torch.Tensor:
    return torch.cat([y, y], dim=1)[:, 3:9]


# Containers and attributes


def _with_more_attributes(state: State) -> State:
    vars(state).update(names=["before"], cache=torch.zeros(2, 6), count=3)
    return state


def _of_another_class(state: State) -> State:
    state.__class__ = OtherState
    return state


def _with_trained_scale(state: State) -> State:
    state.scale = nn.Parameter(state.scale)
    return state


def _of_fixed_layers(state: State) -> State:
    state.layer.eval()
    return state


def _of_frozen_layers(state: State) -> State:
    state.layer.requires_grad_(False)
    return state


def _of_hooked_layers(state: State) -> State:
    state.layer[0].register_forward_hook(lambda module, inputs, output: output + 1)
    return state


def _of_other_layers(state: State) -> State:
    state.layer[2] = nn.Softmax(-1)
    return state


def _of_shared_weights(state: State) -> State:
    state.layer.append(state.layer[0])
    return state


_ALTERATIONS: list[Callable[[Arguments], dict[str, Any]]] = [
    lambda given: {"y": given.x},
    lambda given: {"y": given.x.view(given.x.shape)},
    lambda given: {"w": given.w.detach()[: len(given.x)], "y": given.x},
    _overlapping,
    lambda given: {"x": given.x.t().contiguous().t()},
    lambda given: {"x": _after_other_rows(given.x)},
    lambda given: {"y": _of_a_wide_one(given.y)},
    lambda given: {"y": given.y[:1].expand_as(given.x)},
    lambda given: {"x": given.x[:1], "y": given.y[:1]},
    lambda given: {"x": given.x[:2], "y": given.y[:2]},
    lambda given: {"x": torch.cat([given.x, given.y]), "y": torch.cat([given.y, given.x])},
    lambda given: {"x": given.x[None], "y": given.y[None]},
    lambda given: {"x": given.x.double(), "y": given.y.double()},
    lambda given: {"y": (given.y * 3).long()},
    lambda given: {"x": given.x.bfloat16()},
    lambda given: {"w": given.w.detach().requires_grad_(not given.w.requires_grad)},
    lambda given: {"x": given.x.requires_grad_()},
    lambda given: {"x": given.x.requires_grad_() * 1},
    lambda given: {"y": given.w[: len(given.y)]},
    lambda given: {"y": given.w[: len(given.y)].detach()},
    lambda given: {"x": nn.Parameter(given.x)},
    lambda given: {"n": given.n + 0.5},
    lambda given: {"n": given.n > 1},
    lambda given: {"n": -given.n},
    lambda given: {"n": given.n + 1},
    lambda given: {"items": given.items[:1]},
    lambda given: {"items": [3, *given.items]},
    lambda given: {"items": [*given.items[1:], given.x]},
    lambda given: {"items": [given.y, given.y, given.x.t()]},
    lambda given: {"settings": dict(reversed(given.settings.items()))},
    lambda given: {"settings": {**given.settings, "flag": "", "k": given.x}},
    lambda given: {"settings": {"n": 7, "z": 2}},
    lambda given: {"state": _with_more_attributes(given.state)},
    lambda given: {"state": _of_another_class(given.state)},
    lambda given: {"state": _with_trained_scale(given.state)},
    lambda given: {"state": _of_fixed_layers(given.state)},
    lambda given: {"state": _of_frozen_layers(given.state)},
    lambda given: {"state": _of_hooked_layers(given.state)},
    lambda given: {"state": _of_other_layers(given.state)},
    lambda given: {"state": _of_shared_weights(given.state)},
]


# Modes


@contextlib.contextmanager
def _of_doubles() -> Any:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def _on_another_device() -> Any:
    with torch.device("meta"):
        yield


def _patched(owner: Any, name: str, value: Any) -> Callable[[], contextlib.AbstractContextManager[Any]]:
    return lambda: mock.patch.object(owner, name, value, create=True)


def _made_up(state: State, name: str) -> torch.Tensor:
    if name.startswith("_"):
        raise AttributeError(name)
    return torch.ones(2, 6)


@contextlib.contextmanager
def _with_hooks_of_all_layers() -> Any:
    handle = nn.modules.module.register_module_forward_hook(lambda module, inputs, output: output * 2)
    try:
        yield
    finally:
        handle.remove()


_MODES: list[Callable[[], contextlib.AbstractContextManager[Any]]] = [
    torch.no_grad,
    torch.inference_mode,
    _of_doubles,
    lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    _on_another_device,
    torch.autograd.detect_anomaly,
    _with_hooks_of_all_layers,
    _patched(State, "scaled", lambda self, value, *more: value + self.count),
    _patched(State, "twice", 5),
    _patched(State, "__getattr__", _made_up),
    _patched(nn.BatchNorm1d, "forward", lambda self, value: value * 3),
    _patched(nn.Linear, "__call__", lambda self, value: value[..., :6] - 1),
    _patched(Doubled, "forward", staticmethod(lambda ctx, value, factor=1: value.clone())),
    _patched(torch, "tanh", torch.sin),
    _patched(torch.nn.functional, "gelu", torch.nn.functional.relu),
    _patched(torch.Tensor, "exp", lambda self: self + 1),
    _patched(torch.Tensor, "__len__", lambda self: 2),
]
