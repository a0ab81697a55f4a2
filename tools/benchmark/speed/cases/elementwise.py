"""One result for each element of contiguous tensors of a million elements."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group

COUNT = 1_000_000
READ_AND_WRITE = 8.0 * COUNT


def unary(name: str, positive: bool = False) -> Case:
    """A function of one tensor; NumPy's too where it has the same name."""

    def make(t: Any, x: Any) -> Callable[[], Any]:
        values = x(COUNT).abs() if positive else x(COUNT)
        return partial(getattr(t, name), values)

    in_numpy = name in ("exp", "log", "sin", "tanh", "sqrt", "abs")
    arrays = (lambda np, x: (getattr(np, name), (abs(x(COUNT)),))) if in_numpy else None
    return Case(name, make, bytes=READ_AND_WRITE, arrays=arrays)


def functional(name: str) -> Case:
    return Case(name, lambda t, x: partial(getattr(t.nn.functional, name), x(COUNT)), bytes=READ_AND_WRITE)


def typed_add(dtype: str, width: int) -> Case:
    def make(t: Any, x: Any) -> Callable[[], Any]:
        of_type = getattr(t, dtype)
        return partial(t.add, x(COUNT).to(of_type), x(COUNT).to(of_type))

    return Case(f"add {dtype}", make, bytes=3.0 * width * COUNT)


def chain(t: Any, x: Any) -> Callable[[], Any]:
    values = x(COUNT)
    return lambda: (2 * values + 1).tanh() * values - values**2


def array_chain(np: Any, x: Any) -> Any:
    return (lambda values: np.tanh(2 * values + 1) * values - values**2), (x(COUNT),)


GROUP = Group(
    "elementwise",
    mean_goal=0.5,
    worst_goal=1.05,
    cases=(
        Case(
            "add",
            lambda t, x: partial(t.add, x(COUNT), x(COUNT)),
            bytes=12.0 * COUNT,
            arrays=lambda np, x: (np.add, (x(COUNT), x(COUNT))),
        ),
        Case("add 16M", lambda t, x: partial(t.add, x(1 << 24), x(1 << 24)), bytes=12.0 * (1 << 24)),
        Case("add in place", lambda t, x: partial(x(COUNT).add_, x(COUNT)), bytes=12.0 * COUNT),
        typed_add("float64", 8),
        typed_add("bfloat16", 2),
        typed_add("float16", 2),
        typed_add("int32", 4),
        typed_add("int64", 8),
        Case("mul by a number", lambda t, x: partial(t.mul, x(COUNT), 2.5), bytes=READ_AND_WRITE),
        Case("div", lambda t, x: partial(t.div, x(COUNT), x(COUNT).abs() + 1), bytes=12.0 * COUNT),
        Case("floor_divide", lambda t, x: partial(t.floor_divide, x(COUNT), x(COUNT))),
        Case("remainder by a number", lambda t, x: partial(t.remainder, 100 * x(COUNT), 1.5)),
        Case("integer floor_divide", lambda t, x: partial(t.floor_divide, t.arange(COUNT), 7)),
        Case("integer remainder", lambda t, x: partial(t.remainder, t.arange(COUNT), 7)),
        unary("exp"),
        unary("log", positive=True),
        unary("sin"),
        unary("tanh"),
        unary("erf"),
        unary("sigmoid"),
        unary("sqrt", positive=True),
        unary("abs"),
        functional("relu"),
        functional("gelu"),
        functional("silu"),
        functional("softplus"),
        Case("pow 3", lambda t, x: partial(t.pow, x(COUNT), 3), bytes=READ_AND_WRITE),
        Case("pow 1.5", lambda t, x: partial(t.pow, x(COUNT).abs(), 1.5), bytes=READ_AND_WRITE),
        Case("clamp", lambda t, x: partial(t.clamp, x(COUNT), -1, 1), bytes=READ_AND_WRITE),
        Case("maximum", lambda t, x: partial(t.maximum, x(COUNT), x(COUNT)), bytes=12.0 * COUNT),
        Case("where", lambda t, x: partial(t.where, x(COUNT) > 0, x(COUNT), x(COUNT)), bytes=13.0 * COUNT),
        Case(
            "masked_fill", lambda t, x: partial(t.masked_fill, x(COUNT), x(COUNT) > 0, 0.0), bytes=9.0 * COUNT
        ),
        Case("addcmul", lambda t, x: partial(t.addcmul, x(COUNT), x(COUNT), x(COUNT)), bytes=16.0 * COUNT),
        Case("lerp", lambda t, x: partial(t.lerp, x(COUNT), x(COUNT), 0.3), bytes=12.0 * COUNT),
        Case("glu", lambda t, x: partial(t.nn.functional.glu, x(1000, 1024)), bytes=6.0 * 1024_000),
        Case("chain", chain, bytes=READ_AND_WRITE, arrays=array_chain),
    ),
)
