"""Samples of functions of three tensors: lerp, addcmul and addcdiv."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _triples(make: Make, **options: Any) -> Iterator[tuple[Any, Any, Any]]:
    """Three tensors; ``options`` apply to the last."""
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
    if not make.is_inexact:  # integers are not divided by integers
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
