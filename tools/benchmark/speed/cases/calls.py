"""Calls on tiny tensors: their cost is what surrounds the arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group


def small_chain(t: Any, x: Any) -> Callable[[], Any]:
    left, right = x(4, 4), x(4, 4)
    return lambda: ((left + right) * 2.0).relu().sum()


def forward_and_backward(t: Any, x: Any) -> Callable[[], Any]:
    inputs = x(4, 4)
    weight = x(4, 4).requires_grad_()

    def step() -> None:
        (inputs @ weight).relu().sum().backward()
        weight.grad = None

    return step


def small_network(t: Any, x: Any) -> Callable[[], Any]:
    network = t.nn.Sequential(t.nn.Linear(8, 16), t.nn.ReLU(), t.nn.Linear(16, 4))
    inputs = x(2, 8)
    return lambda: network(inputs)


GROUP = Group(
    "calls",
    mean_goal=0.2,
    worst_goal=0.5,
    cases=(
        Case("add", lambda t, x: partial(t.add, x(4), x(4))),
        Case("add out=", lambda t, x: partial(t.add, x(4), x(4), out=x(4))),
        Case("add in place", lambda t, x: partial(x(4).add_, x(4))),
        Case("add with requires_grad", lambda t, x: partial(t.add, x(4).requires_grad_(), x(4))),
        Case("mul by a number", lambda t, x: (lambda a: lambda: a * 2.0)(x(4))),
        Case("mul by a 0-dim tensor", lambda t, x: partial(t.mul, x(4), t.tensor(2.0))),
        Case("relu", lambda t, x: partial(t.relu, x(4))),
        Case("sum", lambda t, x: x(4).sum),
        Case("mm 4x4", lambda t, x: partial(t.mm, x(4, 4), x(4, 4))),
        Case("view", lambda t, x: partial(x(2, 2).view, 4)),
        Case("transpose", lambda t, x: partial(x(2, 2).transpose, 0, 1)),
        Case("index", lambda t, x: (lambda a: lambda: a[0, 1])(x(2, 2))),
        Case("index with a slice", lambda t, x: (lambda a: lambda: a[1:])(x(4))),
        Case("cat", lambda t, x: partial(t.cat, [x(4), x(4)])),
        Case("empty", lambda t, x: partial(t.empty, 4)),
        Case("zeros_like", lambda t, x: partial(t.zeros_like, x(4))),
        Case("item", lambda t, x: x(1).item),
        Case("small chain", small_chain),
        Case("forward and backward", forward_and_backward),
        Case("small network", small_network),
    ),
)
