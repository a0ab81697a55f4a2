"""What programs tell the compiler here: marks on sizes, and others that `torch.compiler` does not have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torch_py._tensor import Tensor
from torch_py.compiler._marks import disallow_in_graph
from torch_py.compiler._stance import set_stance


def graph_break(msg: str = "") -> None:
    """Ends the graph here; `msg` appears as the reason. Does nothing outside of compiled functions."""


forbid_in_graph = disallow_in_graph


def run(fn: Callable[..., Any] | None = None) -> Any:
    """A function that runs compiled code if there is some that fits, and compiles nothing."""
    return run if fn is None else set_stance("eager_on_recompile")(fn)


# Sizes


def _mark(t: Any, name: str, index: Any, function: str, least: Any = 0, most: Any = math.inf) -> None:
    """Adds dimensions (a number or several) to those that a tensor has under a name."""
    if not isinstance(t, Tensor):
        raise TypeError(f"{function}: expected a tensor, got {type(t).__name__}")
    given = index if isinstance(index, (list, tuple, range)) else (index,)
    for position in given:
        if not isinstance(position, int):
            raise AssertionError(f"{function}: expected an int, list or tuple as index, got {index!r}")
        if not -t.dim() <= position < t.dim():
            raise IndexError(f"{function}: expected a dimension of a tensor with {t.dim()}, got {position}")
        if not least <= t.shape[position] <= most:
            size = t.shape[position]
            raise ValueError(f"{function}: a size of {size} is not from min={least} to max={most}")
    marked: set[int] = getattr(t, name, None) or set()
    setattr(t, name, marked | {position % t.dim() for position in given})


def mark_dynamic(
    t: Any,
    index: Any,
    *,
    hint_override: int | None = None,
    min: int | None = None,
    max: int | None = None,
    specialize_on: list[Any] | None = None,
) -> None:
    """Sizes of these dimensions (a number or several) will vary: compiled code keeps them variable.

    Raises IndexError for a dimension that the tensor does not have, and ValueError unless its size is from
    `min` to `max`. Other sizes are compiled without regard to these; the other arguments have no effect.
    """
    limits = 0 if min is None else min, math.inf if max is None else max
    _mark(t, "_dynamo_dynamic_indices", index, "mark_dynamic", *limits)


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Like `mark_dynamic`, but without an error if the program needs one particular size."""
    _mark(t, "_dynamo_weak_dynamic_indices", index, "maybe_mark_dynamic")


def mark_static(t: Any, index: Any = None) -> None:
    """Sizes of these dimensions, or of all, are constants of compiled code even if they have changed."""
    if isinstance(t, type):
        return
    given = range(getattr(t, "ndim", 0)) if index is None else index
    _mark(t, "_dynamo_static_indices", given, "mark_static")


def mark_static_address(t: Any, guard: bool = False) -> None:
    """The memory of the tensor stays where it is."""
    if not isinstance(t, Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t)}")
    t._dynamo_static_input_type = "guarded" if guard else "unguarded"  # type: ignore[attr-defined]
