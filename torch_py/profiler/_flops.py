"""The floating-point operations of recorded calls, by the formulas of `torch.utils.flop_counter`."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from torch_py.profiler._ranges import FunctionEvent

Shapes = list[list[int]]


def _product(a: list[int], b: list[int]) -> int:
    return 2 * prod(a) * b[-1] if a and b else 0


def _of_convolution(shapes: Shapes) -> int:
    """An upper bound without padding and stride: the result's shape is not recorded."""
    x, weight = shapes[:2]
    return 2 * x[0] * prod(x[2:]) * prod(weight) if len(x) == len(weight) > 2 else 0


def _of_attention(shapes: Shapes) -> int:
    query, key, value = shapes[:3]
    return 2 * prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


# By operator: from the shapes of its arguments. Which operators count, and what a multiplication with an
# addition is worth, is a convention of profilers and not a fact about the operator.
_FORMULAS = {
    "aten::mm": lambda shapes: _product(shapes[0], shapes[1]),
    "aten::bmm": lambda shapes: _product(shapes[0], shapes[1]),
    "aten::addmm": lambda shapes: _product(shapes[1], shapes[2]),
    "aten::baddbmm": lambda shapes: _product(shapes[1], shapes[2]),
    "aten::convolution": _of_convolution,
    "aten::scaled_dot_product_attention": _of_attention,
}


def count_flops(events: Iterable[FunctionEvent]) -> None:
    """Sets the flops of the calls whose operators have a formula."""
    for event in events:
        formula = _FORMULAS.get(event.name)
        if formula is not None and event.input_shapes:
            event.flops = formula(event.input_shapes)
