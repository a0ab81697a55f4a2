"""Determines which numbers of a program depend on dynamic dimensions.

Note [Dynamic dimensions]
A run records plain numbers. With dynamic dimensions the program is recorded several times, with different
sizes of these dimensions, and the recordings are compared. A number that is the same in all runs is a
constant of the program. Any other number is `Varying`: it is looked up among the dimensions of the tensors
that the graph has at that point, then among integer formulas of the dynamic dimensions (see `formula`). A
program that calls different operators in different runs makes a decision that a graph cannot express.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from torch_py._tensor import Tensor
from torch_py.onnx._calls import Call, Constant, Facts, Value
from torch_py.onnx.errors import OnnxExporterError


@dataclass(frozen=True)
class Varying:
    """A number that differs from run to run."""

    values: tuple[Any, ...]


Size = int | Varying


@dataclass(frozen=True, eq=False)
class VaryingConstant:
    """A tensor that was created without being recorded, with a different value in each run."""

    tensors: tuple[Tensor, ...]


@dataclass
class Merged:
    """The calls and shapes that all runs have in common."""

    calls: list[Call]
    shapes: list[tuple[Size, ...]]  # by index of value


class Run(Protocol):
    """A recording of the program."""

    calls: list[Call]
    facts: list[Facts]


def merge(runs: Sequence[Run]) -> Merged:
    """Combines recordings of one program. Raises OnnxExporterError if the runs called different operators."""
    first = runs[0]
    for position, call in enumerate(first.calls):
        for run in runs[1:]:
            other = run.calls[position] if position < len(run.calls) else None
            if other is None or _signature(other) != _signature(call):
                raise _different(position, call, other)

    shortest = len(first.calls)
    if any(len(run.calls) != shortest for run in runs):
        further = next(run.calls[shortest] for run in runs if len(run.calls) > shortest)
        raise _different(shortest, None, further)

    calls = []
    for group in zip(*(run.calls for run in runs)):
        call = group[0]
        arguments = {key: _merged([c.arguments.get(key) for c in group], call) for key in call.arguments}
        calls.append(replace(call, arguments=arguments))

    shapes = [
        tuple(_number(sizes) for sizes in zip(*(fact.shape for fact in facts)))
        for facts in zip(*(run.facts for run in runs))
    ]
    return Merged(calls, shapes)


def _signature(call: Call) -> tuple[str, str, int]:
    return call.name, call.origin.module, len(call.results)


def _different(position: int, call: Call | None, other: Call | None) -> OnnxExporterError:
    names = [f"{c.name}{c.origin}" if c is not None else "no further operator" for c in (call, other)]
    return OnnxExporterError(
        "torch.onnx.export: which operators run depends on the size of a dynamic dimension: operator "
        f"{position} is {names[0]}, or with another size {names[1]}; leave the dimension out of "
        "dynamic_axes, or write the decision with tensors (torch.where)"
    )


def _number(values: Sequence[Any]) -> Any:
    return values[0] if all(v == values[0] for v in values) else Varying(tuple(values))


def _merged(values: Sequence[Any], call: Call) -> Any:
    """The value of an argument in all runs: the common value, or a varying one."""
    first = values[0]
    if len(values) == 1 or isinstance(first, Value):
        return first

    if isinstance(first, Constant):
        tensors = tuple(value.tensor for value in values)
        return first if all(_same(tensors[0], t) for t in tensors) else VaryingConstant(tensors)

    # Containers are compared part by part.
    if isinstance(first, (list, tuple)) and all(
        isinstance(v, (list, tuple)) and len(v) == len(first) for v in values
    ):
        parts = [_merged(group, call) for group in zip(*values)]
        return parts if isinstance(first, list) else tuple(parts)
    if isinstance(first, dict):
        return {key: _merged([value[key] for value in values], call) for key in first}

    if all(type(v) is type(first) and v == first for v in values):
        return first
    if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        return Varying(tuple(values))
    raise OnnxExporterError(
        f"torch.onnx.export: an argument of {call.name}{call.origin} depends on the size of a dynamic "
        f"dimension: {first!r}, with other sizes {', '.join(map(repr, values[1:]))}"
    )


def _same(one: Tensor, other: Tensor) -> bool:
    if one is other:
        return True
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


@dataclass(frozen=True)
class Formula:
    """(numerator * product + offset) // denominator + added, where product is the product of `dims`.

    With a modulus, the remainder of the same.
    """

    dims: tuple[int, ...]  # indices among the dimensions that were offered
    numerator: int = 1
    offset: int = 0
    denominator: int = 1
    added: int = 0
    modulus: int = 1


def formula(values: Sequence[int], dims: Sequence[Sequence[int]]) -> Formula | None:
    """Explains `values`, one per run, by a formula of `dims`: first affine in one dimension or in the product
    of two, then with a remainder, then rounded. None if no such formula exists."""
    single: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((i,), tuple(d)) for i, d in enumerate(dims)]
    pairs = [
        ((i, j), tuple(a * b for a, b in zip(dims[i], dims[j])))
        for i in range(len(dims))
        for j in range(i, len(dims))
    ]

    for find, products in ((_affine, single + pairs), (_remainder, single), (_rounded, single + pairs)):
        for indices, product in products:
            found = find(values, product)
            if found is not None:
                return Formula(indices, *found)
    return None


def _affine(values: Sequence[int], product: Sequence[int]) -> tuple[int, ...] | None:
    step = product[1] - product[0]
    if step == 0:
        return None
    slope = Fraction(values[1] - values[0], step)
    start = values[0] - slope * product[0]
    if slope == 0 or any(slope * p + start != v for p, v in zip(product, values)):
        return None
    common = slope.denominator * start.denominator
    return int(slope * common), int(start * common), common, 0


def _remainder(values: Sequence[int], product: Sequence[int]) -> tuple[int, ...] | None:
    """The remainder of a division by a number, or the distance to its next multiple."""
    for modulus in range(max(values) + 1, 65):
        for sign in (1, -1):
            if all((sign * p) % modulus == v for p, v in zip(product, values)):
                return sign, 0, 1, 0, modulus
    return None


def _rounded(values: Sequence[int], product: Sequence[int]) -> tuple[int, ...] | None:
    """The sizes that strides and halves produce: (n + offset) // denominator + added.

    Two different values are not enough, since too many formulas would fit.
    """
    if len(set(values)) < 3:
        return None
    for denominator in range(2, 65):
        for offset in range(denominator):
            added = values[0] - (product[0] + offset) // denominator
            if abs(added) < 8 and all(
                (p + offset) // denominator + added == v for p, v in zip(product, values)
            ):
                return 1, offset, denominator, added
    return None
