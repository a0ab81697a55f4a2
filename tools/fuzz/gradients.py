"""Compares derivatives of operators with PyTorch's: first and second order, and which results require grad.

The command line is `python -m tools.fuzz.gradients LOG SEED START SECONDS [COUNT [OPERATOR]]`.

Run by `python -m tools.fuzz --gradients`, in a process of its own, because a call may end it. The calls are
samples of the tests. Half of them are moved to a special point, where formulas branch: equal elements, zeros,
elements at the numbers of the call (limits, margins, thresholds), and elements where functions are saturated.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import torch_py
from tests.ops.calling import call, exists_in, tensors_of
from tests.ops.comparison import outcome, to_numpy
from tests.ops.known_differences import HERMITIAN_INPUT, UP_TO_PHASE, WITHOUT_VALUES
from tests.ops.operators import Operator, all_operators
from tests.ops.samples import SampleInput

from .comparing import compare_calls, is_accident
from .known_gradient_differences import MAY_DIFFER, NOT_CALLED
from .peer import Call, Spec, circumstances, spec_of

_DTYPES = ("float64", "float64", "complex128", "float32", "complex64", "bfloat16", "float16")
_DIFFERENTIABLE = ("float", "double", "complex", "bfloat")
# Relative to the largest element of each gradient, or to 1 if that is larger.
_TOLERANCES = {"float64": 1e-7, "complex128": 1e-7, "float32": 2e-3, "complex64": 2e-3}
_NARROW = 6e-2


# Special points


def _zeros(dice: random.Random, values: Any, numbers: Sequence[float]) -> Any:
    return np.zeros_like(values)


def _some_zeros(dice: random.Random, values: Any, numbers: Sequence[float]) -> Any:
    return _some(dice, values, [0.0])


def _equal(dice: random.Random, values: Any, numbers: Sequence[float]) -> Any:
    return np.full_like(values, values.flat[0])


def _few_values(dice: random.Random, values: Any, numbers: Sequence[float]) -> Any:
    return _drawn(dice, values, [-1.0, 0.0, 1.0, 1.0, 2.0])


def _at_numbers(dice: random.Random, values: Any, numbers: Sequence[float]) -> Any:
    return _some(dice, values, [*numbers, *(-number for number in numbers)])


def _saturated(dice: random.Random, values: Any, numbers: Sequence[float]) -> Any:
    return _some(dice, values, [30.0, -30.0, 120.0, -120.0, 1e-12, -1e-12])


def _drawn(dice: random.Random, values: Any, candidates: Sequence[float]) -> Any:
    drawn = [dice.choice(candidates) for _ in range(values.size)]
    return np.array(drawn).reshape(values.shape).astype(values.dtype)


def _some(dice: random.Random, values: Any, candidates: Sequence[float]) -> Any:
    chosen = np.array([dice.random() < 0.5 for _ in range(values.size)], dtype=bool).reshape(values.shape)
    return np.where(chosen, _drawn(dice, values, candidates), values).astype(values.dtype)


_POINTS = (_zeros, _some_zeros, _equal, _few_values, _at_numbers, _saturated)


def _is_differentiable(spec: Any) -> bool:
    return isinstance(spec, Spec) and spec.dtype.startswith(_DIFFERENTIABLE)


def _moved(dice: random.Random, value: Any, numbers: Sequence[float], chance: float) -> Any:
    """`value` with its floating tensors, each with that chance, at a special point."""
    if isinstance(value, (list, tuple)):
        return type(value)(_moved(dice, item, numbers, chance) for item in value)
    if not _is_differentiable(value) or value.values.size == 0 or dice.random() > chance:
        return value
    with np.errstate(all="ignore"):
        moved = dice.choice(_POINTS)(dice, value.values, numbers)
    return Spec(moved, value.dtype, value.layout)


# Calls


@dataclass(frozen=True)
class Differentiation:
    """A call, and which of its floating tensors require grad: those whose number is in `chosen`."""

    made: Call
    chosen: frozenset[int]
    number: int

    def sample(self, module: Any) -> tuple[SampleInput, list[Any]]:
        """The arguments, and those of them that require grad."""
        sources = []
        position = iter(range(1000))

        def with_gradient(tensor: Any) -> Any:
            if not (tensor.is_floating_point() or tensor.is_complex()) or next(position) not in self.chosen:
                return tensor
            leaf = tensor.detach().requires_grad_()
            sources.append(leaf)
            return leaf

        return self.made.sample(module).map(with_gradient), sources

    def __str__(self) -> str:
        return f"{self.made} d{sorted(self.chosen)}"


@functools.lru_cache(maxsize=32)
def _samples(operator: Operator, dtype: str) -> list[SampleInput]:
    try:
        return operator.samples(torch_py, dtype)
    except (OverflowError, TypeError, ValueError, RuntimeError):
        return []  # a generator whose numbers the dtype does not have


def make_call(dice: random.Random, operators: Sequence[Operator]) -> Differentiation | None:
    operator = dice.choice(operators)
    samples = _samples(operator, dice.choice(_DTYPES))
    if not samples:
        return None

    sample = dice.choice(samples).map(spec_of)  # type: ignore[arg-type]
    values = [*sample.positional, *sample.kwargs.values()]
    numbers = [float(v) for v in values if isinstance(v, (int, float)) and abs(v) < 1e6] or [1.0]
    if dice.random() < 0.5:
        values = [_moved(dice, value, [*numbers, 1.0, 0.5], 0.7) for value in values]

    floating = _count(values)
    if floating == 0:
        return None
    everything = range(floating)
    chosen = everything if dice.random() < 0.7 else [n for n in everything if dice.random() < 0.5]
    count = len(sample.positional)
    made = Call(operator, tuple(values[:count]), dict(zip(sample.kwargs, values[count:])), False, 0)
    if any(row.covers(str(operator), "", circumstances(made)) for row in NOT_CALLED):
        return None
    return Differentiation(made, frozenset(chosen), dice.randrange(1 << 30))


def _count(value: Any) -> int:
    if isinstance(value, (list, tuple)):
        return sum(map(_count, value))
    return int(_is_differentiable(value))


# Derivatives


@dataclass
class Derivatives:
    """What one library found; None where an order could not be computed."""

    requires_grad: list[bool | None]  # of each result; None without elements
    first: list[Any] | None = None
    second: list[Any] | None = None
    error: Exception | None = None  # of the first order that failed
    failed: str = ""


def _weight(module: Any, tensor: Any, seed: int) -> Any:
    """The same numbers in both libraries, not 1 so that no term cancels another."""
    draw = np.random.default_rng(seed)
    shape = tuple(tensor.shape)
    values = draw.uniform(0.5, 1.5, shape)
    if tensor.is_complex():
        values = values + 1j * draw.uniform(0.5, 1.5, shape)
    return module.from_numpy(np.ascontiguousarray(values).reshape(shape)).to(tensor.dtype)


def _differentiated(made: Differentiation, module: Any) -> Derivatives:
    operator = made.made.operator
    sample, sources = made.sample(module)
    if operator.is_mutation:
        sample.clone_input()
    if str(operator) in HERMITIAN_INPUT:
        sample.input = (sample.input + sample.input.transpose(-2, -1).conj()) / 2

    outputs = tensors_of(call(operator, module, sample))
    found = Derivatives([bool(output.requires_grad) if output.numel() > 0 else None for output in outputs])
    if str(operator) in UP_TO_PHASE:
        outputs = [output.abs() if output.is_complex() else output for output in outputs]

    numbered = [(place, output) for place, output in enumerate(outputs) if output.requires_grad]
    if operator.is_random or str(operator) in WITHOUT_VALUES or not numbered or not sources:
        return found

    kept = [output for _, output in numbered]
    weights = [_weight(module, output, made.number + place).requires_grad_() for place, output in numbered]
    first = outcome(
        lambda: module.autograd.grad(kept, sources, weights, create_graph=True, allow_unused=True)
    )
    if first.error is not None:
        found.error = first.error
        found.failed = "first"
        return found

    found.first = list(first.result)
    _differentiate_again(made, module, found, [*sources, *weights])
    return found


def _differentiate_again(made: Differentiation, module: Any, found: Derivatives, inputs: list[Any]) -> None:
    numbered = [
        (place, gradient)
        for place, gradient in enumerate(found.first or [])
        if gradient is not None and gradient.requires_grad
    ]
    if not numbered:
        return

    again = [gradient for _, gradient in numbered]
    directions = [_weight(module, gradient, made.number + 100 + place) for place, gradient in numbered]
    second = outcome(lambda: module.autograd.grad(again, inputs, directions, allow_unused=True))
    if second.error is None:
        found.second = list(second.result)
    else:
        found.error = second.error
        found.failed = "second"


# Comparison


def difference(made: Differentiation) -> str | None:
    """What differs between the libraries, as "kind: details"."""
    found = outcome(_differentiated, made, torch_py)
    expected = outcome(_differentiated, made, torch)
    if is_accident(found.error, expected.error):
        return f"accident: {type(found.error).__name__} {found.error}"
    if expected.error is not None or found.error is not None:
        return None  # of the operator itself: tools.fuzz.peer compares these

    ours = found.result
    theirs = expected.result
    pairs = zip(ours.requires_grad, theirs.requires_grad)
    if any(own != other for own, other in pairs if own is not None and other is not None):
        return f"requires_grad: {ours.requires_grad}; PyTorch: {theirs.requires_grad}"
    return _different_derivatives(made, ours, theirs)


def _different_derivatives(made: Differentiation, ours: Derivatives, theirs: Derivatives) -> str | None:
    if is_accident(ours.error, theirs.error):
        return f"accident: {ours.failed} order: {type(ours.error).__name__} {ours.error}"
    if theirs.failed == "first":
        return None  # PyTorch has no such derivative
    if ours.failed == "first":
        return f"refuses: first order: {type(ours.error).__name__} {ours.error}"
    if ours.first is None or theirs.first is None:
        return None

    dtypes = circumstances(made.made).dtypes
    found = _compared("first", ours.first, theirs.first, dtypes)
    if found is not None or theirs.failed == "second":
        return found
    if ours.failed == "second":
        return f"refuses: second order: {type(ours.error).__name__} {ours.error}"
    if any(dtype not in _TOLERANCES for dtype in dtypes if dtype.startswith(_DIFFERENTIABLE)):
        return None  # the rounding of the first derivatives is all that one would see
    count = len(ours.second or theirs.second or [])
    none = [None] * count
    return _compared("second", ours.second or none, theirs.second or none, dtypes)


def _compared(order: str, ours: Sequence[Any], theirs: Sequence[Any], dtypes: Sequence[str]) -> str | None:
    tolerance = max(_TOLERANCES.get(d, _NARROW) for d in dtypes if d.startswith(_DIFFERENTIABLE))
    arrays = [[None if t is None else _array(t) for t in tensors] for tensors in (ours, theirs)]
    with np.errstate(all="ignore"):
        finite = [0.0 if a is None else float(np.abs(a[np.isfinite(a)]).max(initial=0)) for a in arrays[1]]
    scales = [min(max(1.0, size), 1e100) for size in finite]

    for position, (own, other) in enumerate(zip(*arrays)):
        if own is None and other is None:
            continue
        own = np.zeros_like(other) if own is None else own
        other = np.zeros_like(own) if other is None else other
        if own.shape != other.shape:
            return f"{order}: gradient {position} has the shape {own.shape}, PyTorch's {other.shape}"

        with np.errstate(all="ignore"):
            close = np.isclose(own, other, rtol=tolerance, atol=tolerance * scales[position], equal_nan=True)
            # Where PyTorch's formula is undefined it says nothing about ours; of infinite numbers the one
            # or the other part of a product is nan.
            close |= np.isnan(other) | (~np.isfinite(own) & ~np.isfinite(other))
        if not np.all(close):
            where = tuple(int(index) for index in np.argwhere(~close)[0])
            return (
                f"{order}: gradient {position} at {where}: {own[where]!r}, PyTorch: {other[where]!r} "
                f"({int(np.sum(~close))} of {close.size} elements)"
            )
    return None


def _array(tensor: Any) -> Any:
    is_zero = getattr(tensor, "_is_zerotensor", None)  # PyTorch's zeros without memory
    return np.zeros(tuple(tensor.shape)) if is_zero is not None and is_zero() else to_numpy(tensor)


def is_known(made: Differentiation, found: str) -> bool:
    facts = circumstances(made.made)
    return any(row.covers(str(made.made.operator), found, facts) for row in MAY_DIFFER)


def compared_operators() -> list[Operator]:
    """The operators that return tensors and that PyTorch has, too."""
    return [operator for operator in all_operators() if operator.makes_tensors and exists_in(operator, torch)]


def calls_of(operator: Operator, count: int) -> list[tuple[int, Differentiation]]:
    """The first `count` calls of the operator that `--seed 0 --operator NAME` makes."""
    numbered = ((number, make_call(random.Random(f"0 {number}"), [operator])) for number in range(count))
    return [(number, made) for number, made in numbered if made is not None]


if __name__ == "__main__":
    compare_calls(
        compared_operators(),
        str,
        make_call,
        difference,
        is_known,
        lambda made: made.made.operator,
    )
