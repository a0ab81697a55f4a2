"""Functions of one tensor, element by element, and those of three."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def tensors(make: Make, **options: Any) -> Iterator[Any]:
    """One tensor per shape and layout that loops treat differently; ``options`` choose the values."""
    yield make(2, 3, **options)
    yield make(**options)
    yield make(0, **options)
    if not make.requires_grad:
        yield make(2, 0, 3, **options)
        yield make(5, **options)
        yield make(71, **options)  # longer than any vector register, with a remainder
        yield make(2, 3, 4, layout="transposed", **options)
        yield make(2, 3, 2, 2, layout="channels_last", **options)
    yield from make.layouts(3, 4, **options)


def unary_samples(make: Make, extremes: bool = True, **options: Any) -> Iterator[SampleInput]:
    for tensor in tensors(make, **options):
        yield SampleInput(tensor)
    if extremes and make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes())


@samples("unary")
def unary(make: Make) -> Iterator[SampleInput]:
    """What ``python -m codegen new`` writes until someone chooses."""
    yield from unary_samples(make)


@samples("unary_any")
def unary_any(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, extremes=False)


@samples("unary_complex")
def unary_complex(make: Make) -> Iterator[SampleInput]:
    if make.is_complex:
        yield from unary_samples(make, extremes=False)


@samples("unary_any_number")
def unary_any_number(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make)


@samples("unary_float")
def unary_float(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make)
    if not make.requires_grad:
        yield SampleInput(make(33, low=-25.0, high=25.0))


@samples("unary_float_only")
def unary_float_only(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(-2, -1, 0, 1, 2))


@samples("unary_positive")
def unary_positive(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=0.2, high=4.0)


@samples("unary_above_one")
def unary_above_one(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=1.2, high=4.0)


@samples("unary_unit")
def unary_unit(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, low=-0.9, high=0.9)


@samples("unary_nonzero")
def unary_nonzero(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(0,))


@samples("unary_real")
def unary_real(make: Make) -> Iterator[SampleInput]:
    """For steps: away from where they jump."""
    yield from unary_samples(make, away_from=(-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0, -7.0]))


@samples("unary_integer")
def unary_integer(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, extremes=False)


@samples("activation")
def activation(make: Make) -> Iterator[SampleInput]:
    """Operators take those samples whose keywords they know; all kinks of activations are kept away from."""
    kinks = (-3, -1, 0, 1, 3)
    yield from unary_samples(make, low=-4.0, high=4.0, away_from=kinks)
    away: dict[str, Any] = {"low": -4.0, "high": 4.0, "away_from": (-3, -1.5, -1, -0.5, 0, 0.5, 1, 2, 3)}
    yield SampleInput(make(2, 3, **away), negative_slope=0.3)
    yield SampleInput(make(2, 3, **away), alpha=1.7)
    yield SampleInput(make(2, 3, **away), alpha=1.7, scale=1.1, input_scale=0.5)
    yield SampleInput(make(2, 3, **away), beta=2)
    yield SampleInput(make(2, 3, **away), beta=1.0, threshold=2)
    yield SampleInput(make(2, 3, **away), min_val=-0.5, max_val=2)


@samples("gelu")
def gelu(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make)
    yield SampleInput(make(2, 3), approximate="none")
    yield SampleInput(make(2, 3), approximate="tanh")


@error_samples("gelu")
def gelu_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), approximate="cubic"), RuntimeError, "approximate|cubic")


@samples("dropout")
def dropout(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, 0.4, False)
        yield SampleInput(tensor, 0.0, True)
        yield SampleInput(tensor, 1.0, True)


@error_samples("dropout")
def dropout_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 1.5, True), RuntimeError, "1.5")
    yield ErrorInput(SampleInput(make(2), -0.1, False), RuntimeError, "-0.1")


# Limits


def _limits(make: Make) -> tuple[Any, Any]:
    return (-1, 2) if make.is_integral else (-0.7, 1.1)


@samples("clamp")
def clamp(make: Make) -> Iterator[SampleInput]:
    low, high = _limits(make)
    away = (low, high)
    for tensor in tensors(make, away_from=away):
        yield SampleInput(tensor, low, high)
    yield SampleInput(make(2, 3, away_from=away), low)
    yield SampleInput(make(2, 3, away_from=away), max=high)
    yield SampleInput(make(2, 3, away_from=away), high, low)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), -0.5, 1.5)
        yield SampleInput(make.extremes() if make.is_floating else make(4), 0, 1)


@error_samples("clamp", "clamp_tensor")
def clamp_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "min.*max")


@samples("clamp_min")
def clamp_min(make: Make) -> Iterator[SampleInput]:
    low, _ = _limits(make)
    for tensor in tensors(make, away_from=(low,)):
        yield SampleInput(tensor, low)


@samples("clamp_max")
def clamp_max(make: Make) -> Iterator[SampleInput]:
    _, high = _limits(make)
    for tensor in tensors(make, away_from=(high,)):
        yield SampleInput(tensor, high)


@samples("clamp_tensor")
def clamp_tensor(make: Make) -> Iterator[SampleInput]:
    def limit(low: float, high: float, *shape: int) -> Any:
        return make(*shape, low=low, high=high)

    yield SampleInput(make(2, 3, low=-3.0, high=3.0), limit(-1.4, -0.6, 2, 3), limit(0.6, 1.4, 2, 3))
    yield SampleInput(make(2, 3), limit(-1.0, -0.5, 3), limit(0.5, 1.0, 2, 1))
    yield SampleInput(make(2, 3), limit(-1.0, 0.0))
    yield SampleInput(make(2, 3), max=limit(-1.0, 0.0, 3))
    yield SampleInput(make(0, 3), limit(-1.0, 0.0, 3), limit(0.0, 1.0, 3))


# Three tensors


def _triples(make: Make, **options: Any) -> Iterator[tuple[Any, Any, Any]]:
    """``options`` are those of the last tensor."""
    yield make(2, 3), make(2, 3), make(2, 3, **options)
    yield make(), make(), make(**options)
    yield make(0, 3), make(3), make(1, 1, **options)
    yield make(2, 1), make(3), make(2, 3, **options)
    yield make(2, 3, layout="transposed"), make(2, 3, layout="strided"), make(2, 3, **options)
    if not make.requires_grad:
        yield make(71), make(71), make(71, **options)
        yield make(4, 5, layout="expanded"), make(4, 5, layout="offset"), make(5, layout="strided", **options)


@samples("ternary")
def ternary(make: Make) -> Iterator[SampleInput]:
    for triple in _triples(make):
        yield SampleInput(*triple)
        yield SampleInput(*triple, value=2)
    if make.is_inexact:
        yield SampleInput(make(2), make(2), make(2), value=-0.75)


@samples("ternary_nonzero")
def ternary_nonzero(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:  # no division of integers by integers
        yield SampleInput(
            make(2, 3),
            make(2, 3, dtype="float32"),
            make(2, 3, away_from=(0,)) if make.is_integral else make.values([True]),
        )
        return
    for triple in _triples(make, low=0.5, high=2.0):
        yield SampleInput(*triple)
        yield SampleInput(*triple, value=-0.75 if make.is_inexact else 2)


@error_samples("ternary_nonzero")
def ternary_nonzero_errors(make: Make) -> Iterator[ErrorInput]:
    yield from ternary_errors(make)
    integers = make.integers(2, low=1, high=5)
    yield ErrorInput(
        SampleInput(make(2), integers, integers), RuntimeError, "(?i)integer division with addcdiv"
    )


@error_samples("ternary")
def ternary_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(3), make(2)), RuntimeError, r"2.*3|3.*2")


@samples("lerp")
def lerp(make: Make) -> Iterator[SampleInput]:
    for triple in _triples(make, low=0.0, high=1.0):
        yield SampleInput(*triple)
    yield SampleInput(make(2, 3), make(2, 3), 0.3)
    yield SampleInput(make(2, 1), make(3), 0.8)
