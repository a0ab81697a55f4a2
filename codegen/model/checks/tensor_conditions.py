"""Tries conditions of ``requires:`` about tensors: on shapes and dtypes that differ.

A condition that asks for something else of a tensor, such as its memory, counts as one that can hold.
"""

from __future__ import annotations

import math
import operator as operators
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import NamedTuple

from codegen.dtypes import DTYPE_ALIASES, DTYPES, INTEGER_DTYPES
from codegen.expressions import Node, nodes
from codegen.expressions.evaluate import NoValueError, evaluate
from codegen.expressions.simplify import number_of

_SIZES = (0, 1, 2, 3)
_MOST_DIMS = 6
_LARGEST_SIZE = 100_000
_MOST_TENSORS = 2
_MOST_TRIES = 20_000
_COMPARE = {"==": operators.eq, "!=": operators.ne}


class Tensor(NamedTuple):
    """What conditions see of a tensor."""

    shape: tuple[int, ...]
    dtype: str


class NotKnown(Exception):
    """A condition about something else."""


def can_hold(
    condition: Node,
    tensors: Sequence[str],
    numbers: Sequence[Mapping[str, float]],
    dtype_sets: Mapping[str, Collection[str]],
    dtypes: Sequence[str] = DTYPES,
) -> bool:
    """Whether a condition holds for some tensors of ``dtypes`` and numbers, as far as this can be told."""
    if len(tensors) > _MOST_TENSORS:
        return True

    tried = list(_tensors(condition, dtypes))
    tries = product(product(tried, repeat=len(tensors)), numbers)
    try:
        for found, values in islice(tries, _MOST_TRIES):
            told = _told(condition, dict(zip(tensors, found)), dtype_sets)
            if told is None:  # the condition relies on an earlier one
                continue
            try:
                if evaluate(told, values):
                    return True
            except (NoValueError, TypeError):
                return True
    except NotKnown:
        return True
    return next(islice(tries, 1), None) is not None  # not all were tried


def _tensors(condition: Node, dtypes: Sequence[str]) -> Iterator[Tensor]:
    """Tensors of sizes and dimensions that the condition speaks of, and others."""
    asks_for_dtype = any(_is_about_dtype(part) for part in nodes.walk(condition))
    literals = {part.value for part in nodes.walk(condition) if isinstance(part, nodes.Number)}
    near = {n + d for n in literals if isinstance(n, int) and abs(n) < _LARGEST_SIZE for d in (-1, 0, 1)}
    sizes = sorted({*_SIZES, *(n for n in near if n >= 0)})
    dims = sorted({*range(_MOST_DIMS + 1), *(n for n in near if 0 <= n <= 64)})

    shapes = dict.fromkeys((size,) * dim for dim in dims for size in sizes)
    shapes |= dict.fromkeys(tuple(range(2, 2 + dim)) for dim in dims)
    for shape in shapes:
        for dtype in dtypes if asks_for_dtype else dtypes[:1]:
            yield Tensor(shape, dtype)


def _is_about_dtype(node: Node) -> bool:
    return isinstance(node, nodes.Call) and (node.function == "dtype" or node.function.startswith("is_"))


class _OutOfRange(Exception):
    """A dimension that the tensor lacks."""


def _told(node: Node, given: Mapping[str, Tensor], sets: Mapping[str, Collection[str]]) -> Node | None:
    """The condition with values in the place of what it asks of tensors; None if they lack a dimension."""
    try:
        return _replaced(node, given, sets)
    except _OutOfRange:
        return None


def _replaced(node: Node, given: Mapping[str, Tensor], sets: Mapping[str, Collection[str]]) -> Node:
    if isinstance(node, nodes.Compare) and any(map(_is_dtype, node.operands)):
        return nodes.Boolean(_compares_dtypes(node, given, sets))
    if isinstance(node, nodes.Call) and node.arguments and isinstance(node.arguments[0], nodes.Name):
        tensor = given.get(node.arguments[0].name)
        if tensor is not None:
            return _value(node, tensor)
    if isinstance(node, nodes.Name) and node.name in given:
        raise NotKnown
    return nodes.rebuild(node, lambda part: _replaced(part, given, sets))


def _value(call: nodes.Call, tensor: Tensor) -> Node:
    if call.function == "dim":
        return nodes.Number(len(tensor.shape))
    if call.function == "numel":
        return nodes.Number(math.prod(tensor.shape))
    if call.function == "size":
        return nodes.Number(_size(call, tensor))

    is_complex = tensor.dtype.startswith("complex")
    is_floating = "float" in tensor.dtype
    known = {
        "is_complex": is_complex,
        "is_floating": is_floating,
        "is_integral": tensor.dtype in INTEGER_DTYPES,
    }
    if call.function not in known:
        raise NotKnown
    return nodes.Boolean(known[call.function])


def _size(call: nodes.Call, tensor: Tensor) -> int:
    dim = number_of(call.arguments[1])
    if dim is None:
        raise NotKnown
    if not -len(tensor.shape) <= dim < len(tensor.shape):
        raise _OutOfRange
    return tensor.shape[int(dim)]


def _is_dtype(node: Node) -> bool:
    return isinstance(node, nodes.Call) and node.function == "dtype"


def _compares_dtypes(
    node: nodes.Compare, given: Mapping[str, Tensor], sets: Mapping[str, Collection[str]]
) -> bool:
    if len(node.operands) != 2:
        raise NotKnown
    left, right = (_dtypes(operand, given, sets) for operand in node.operands)
    (symbol,) = node.operators
    if symbol in ("in", "not in"):
        return (left <= right) is (symbol == "in")
    if symbol not in _COMPARE:
        raise NotKnown
    return bool(_COMPARE[symbol](left, right))


def _dtypes(node: Node, given: Mapping[str, Tensor], sets: Mapping[str, Collection[str]]) -> frozenset[str]:
    if isinstance(node, nodes.ListOf):
        return frozenset().union(*(_dtypes(item, given, sets) for item in node.items))
    if isinstance(node, nodes.Name):
        name = DTYPE_ALIASES.get(node.name, node.name)
        if name in DTYPES or name in sets:
            return frozenset(sets.get(name, (name,)))
    if _is_dtype(node):
        (argument,) = nodes.children(node)
        if isinstance(argument, nodes.Name) and argument.name in given:
            return frozenset((given[argument.name].dtype,))
    raise NotKnown
