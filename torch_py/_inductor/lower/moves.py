"""Elements copied and moved to other places: copies, casts, flip, roll, cat, pads, parts of larger
tensors, and triangles; and filled tensors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from torch_py._inductor.indices import Linear, linear
from torch_py._inductor.ir import LONG, SHORT_FLOATS, TRUTH, Const, Expr, Guard, Index, Map, cast
from torch_py._inductor.lower.context import Elements, Given, Lowering, NotLoweredError, Value, rule

_LONG = 16  # elements; shorter dimensions stay in the cache


@rule("clone", "_to_copy")
def copy(lowering: Lowering, node: Any, given: Given) -> Elements:
    source, example = given["self"], node.meta["val"]
    if _is_transposition(node.args[0].meta["val"], example):
        raise NotLoweredError("a transposition, for which the operator has better loops")

    if source.dtype == example.dtype:
        return source.at
    # The program asks for the rounding of a cast, but not for rounding between operators.
    return lambda index: _rounded(cast(_rounded(source.at(index)), example.dtype))


def _rounded(value: Expr) -> Expr:
    return Map("rounded", [value], value.dtype) if value.dtype in SHORT_FLOATS else value


def _is_transposition(source: Any, result: Any) -> bool:
    """Whether neighbours in memory end up far apart."""
    steps = [(s, r) for size, s, r in zip(source.shape, source.stride(), result.stride()) if size >= _LONG]
    return any(s == 1 and r > 1 for s, r in steps) and any(s > 1 and r == 1 for s, r in steps)


@rule(
    "zeros", "zeros_like", "new_zeros", "ones", "ones_like", "new_ones",
    "full", "full_like", "new_full", "scalar_tensor", "fill.Scalar",
)  # fmt: skip
def filled(lowering: Lowering, node: Any, given: Given) -> Elements:
    is_ones = "ones" in node.target._entry_name
    number = next((given[name] for name in ("fill_value", "value", "s") if name in given), is_ones)
    if not isinstance(number, (bool, int, float)):
        raise NotLoweredError(f"a tensor of {number}")
    return lambda index: Const(number, node.meta["val"].dtype)


@rule("arange", "arange.start", "arange.start_step")
def arange(lowering: Lowering, node: Any, given: Given) -> Elements:
    start, step = given.get("start", 0), given.get("step", 1)
    example = node.meta["val"]
    if not isinstance(start, int) or not isinstance(step, int) or example.dtype.is_floating_point:
        raise NotLoweredError("numbers with fractions")
    return lambda index: cast(Index(index[0] * step + linear(start), LONG), example.dtype)


_MOST_JOINED = 16  # tensors; the loops of more take longer to compile than they save


@rule("flip")
def flip(lowering: Lowering, node: Any, given: Given) -> Elements:
    source: Value = given["self"]
    sizes = source.sizes
    ends = {d % len(sizes): linear(sizes[d] - 1) for d in given["dims"]} if sizes else {}
    return lambda index: source.at([ends[d] - i if d in ends else i for d, i in enumerate(index)])


@rule("roll")
def roll(lowering: Lowering, node: Any, given: Given) -> Elements:
    source: Value = given["self"]
    sizes = source.sizes
    shifts, dims = ([v] if isinstance(v, int) else v for v in (given["shifts"], given["dims"]))
    if not dims or not sizes:
        raise NotLoweredError("a roll of the row of all elements")
    steps = [0] * len(sizes)
    for shift, d in zip(shifts, dims):
        steps[d] += shift
    if steps[-1]:
        raise NotLoweredError("a remainder for each element of the rows")

    return lambda index: source.at([(i + -step % size) % size for i, step, size in zip(index, steps, sizes)])


@rule("cat")
def cat(lowering: Lowering, node: Any, given: Given) -> Value:
    if len(given["tensors"]) > _MOST_JOINED:
        raise NotLoweredError("many tensors")
    example = node.meta["val"]
    dim = given["dim"] % len(example.shape)

    # One loop for each tensor, which stores into a part of the result.
    lowering.check(example)
    buffer = lowering.buffer(node.name, example)
    offset = 0
    for part in given["tensors"]:
        axes, index = lowering.space(part.sizes)
        place = [i + offset if d == dim else i for d, i in enumerate(index)]
        lowering.store(buffer, axes, place, cast(part.at(index), example.dtype))
        offset += part.sizes[dim]
    return Value.of(buffer)


def _inside(position: Linear, size: int) -> list[Expr]:
    """The tests of whether 0 <= position < size."""
    value = Index(position, LONG)
    low, high = position.range
    tests: list[Expr] = [Map(">=", [value, Const(0, LONG)], TRUTH)] if low < 0 else []
    return [*tests, Map("<", [value, Const(size, LONG)], TRUTH)] if high >= size else tests


def _guarded(tests: Sequence[Expr], value: Expr, otherwise: Expr) -> Expr:
    """`value` where all tests hold."""
    if not tests:
        return value
    return Guard(reduce(lambda a, b: Map("and", [a, b], TRUTH), tests), value, otherwise)


@rule("constant_pad_nd")
def constant_pad(lowering: Lowering, node: Any, given: Given) -> Elements:
    source, pad = given["self"], list(given["pad"])
    example = node.meta["val"]
    # Pairs for dimensions, the last one first.
    before = [0] * (len(source.sizes) - len(pad) // 2) + pad[::2][::-1]

    def element(index: Sequence[Linear]) -> Expr:
        own = [i + -low for i, low in zip(index, before)]
        tests = [test for i, size in zip(own, source.sizes) for test in _inside(i, size)]
        return _guarded(tests, source.at(own), Const(given["value"], example.dtype))

    return element


@rule("_slice_backward", "slice_scatter", "_select_backward", "select_scatter")
def with_part(lowering: Lowering, node: Any, given: Given) -> Elements:
    """A tensor, or zeros, with another tensor at every `step`-th position of a dimension, or at one position
    if that lacks the dimension.
    """
    source, part = given.get("self"), given["grad"] if "grad" in given else given["src"]
    start, step = given["start"] if "start" in given else given["index"], given.get("step", 1)
    example = node.meta["val"]
    dim = given["dim"] % len(example.shape)
    size = example.shape[dim]
    first = 0 if start is None else min(max(start + size if start < 0 else start, 0), size)
    is_row = len(part.sizes) < len(example.shape)

    def element(index: Sequence[Linear]) -> Expr:
        otherwise = Const(0, example.dtype) if source is None else source.at(index)
        if is_row:
            test: Expr = Map("==", [Index(index[dim], LONG), Const(first, LONG)], TRUTH)
            return Guard(test, part.at([*index[:dim], *index[dim + 1 :]]), otherwise)

        distance = index[dim] + -first
        tests = _inside(distance, (part.sizes[dim] - 1) * step + 1)
        if step != 1:
            tests.append(Map("==", [Index(distance % step, LONG), Const(0, LONG)], TRUTH))
        own = [*index[:dim], distance // step, *index[dim + 1 :]]
        return _guarded(tests, part.broadcast(own), otherwise)

    return element


@rule("tril", "triu")
def triangle(lowering: Lowering, node: Any, given: Given) -> Elements:
    example = node.meta["val"]
    sign = "<=" if node.target._opname == "tril" else ">="

    def element(index: Sequence[Linear]) -> Expr:
        distance = Index(index[-1] - index[-2], LONG)
        test = Map(sign, [distance, Const(given["diagonal"], LONG)], TRUTH)
        return Map("where", [test, given["self"].at(index), Const(0, example.dtype)], example.dtype)

    return element
