"""Samples of unique elements and membership."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NAN = float("nan")
_INF = float("inf")


def _repetitive(make: Make, *shape: int, layout: Any = "contiguous") -> Any:
    """Tensors of a few numbers that repeat."""
    return (
        make(*shape, layout=layout, low=-1, high=1, distinct=False).round()
        if make.is_floating
        else make(*shape, layout=layout)
    )


@samples("unique")
def unique(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.requires_grad:
        return

    for tensor in (
        _repetitive(make, 12),
        _repetitive(make, 3, 5, layout="transposed"),
        _repetitive(make, 4, 6, layout="strided"),
    ):
        yield SampleInput(tensor)
        yield SampleInput(tensor, True, True, True)
        yield SampleInput(tensor, sorted=False, return_inverse=True)
        yield SampleInput(tensor, return_counts=True)

    yield SampleInput(make(), True, True, True)
    yield SampleInput(make(0), True, True, True)

    if make.is_floating:
        yield SampleInput(make.values([3.0, _NAN, 1.0, _NAN, -_INF]), True, True, True)
        yield SampleInput(make.values([0.0, -0.0, 1.0]))


@samples("unique_dim")
def unique_dim(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.requires_grad:
        return
    rows = make.values([[1, 0, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1]])
    for dim in (0, 1, -1):
        yield SampleInput(rows, dim)
        yield SampleInput(rows, dim, True, True, True)
    yield SampleInput(_repetitive(make, 6), 0, True, True, True)
    yield SampleInput(_repetitive(make, 2, 5, 2, layout="transposed"), 1, sorted=False, return_inverse=True)
    yield SampleInput(make(0, 3), 0, True, True, True)


@error_samples("unique_dim")
def unique_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), 0), IndexError, "no dimensions")
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(0, 3), 1), RuntimeError, "0 sized")
    yield ErrorInput(SampleInput(make(0, 0), 1), RuntimeError, "more than one")


@samples("unique_consecutive")
def unique_consecutive(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.requires_grad:
        return

    runs = make.values([1, 1, 0, 0, 0, 1])
    yield SampleInput(runs)
    yield SampleInput(runs, True, True)
    yield SampleInput(runs, return_counts=True)
    yield SampleInput(runs.reshape(2, 3), True, True)
    yield SampleInput(runs.reshape(3, 2).t(), True)
    yield SampleInput(make.values([[1, 0], [1, 0], [0, 0], [1, 0]]), True, True, 0)
    yield SampleInput(make.values([[1, 0], [1, 0], [0, 0], [1, 0]]), dim=1)
    yield SampleInput(make(), True, True)
    yield SampleInput(make(0), True, True)
    yield SampleInput(make(0, 2), True, True, 0)

    if make.is_floating:
        yield SampleInput(make.values([_NAN, _NAN, 0.0, -0.0]), True, True)


@error_samples("unique_consecutive")
def unique_consecutive_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), dim=0), IndexError, "no dimensions")
    yield ErrorInput(SampleInput(make(0, 3), dim=1), RuntimeError, "0 sized")


@samples("isin")
def isin(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool:
        return

    elements = _repetitive(make, 4, 5)
    yield SampleInput(elements, make.values([0, 1]))
    yield SampleInput(elements, make.values([[1], [2]]), invert=True)
    yield SampleInput(_repetitive(make, 3, 4, layout="transposed"), _repetitive(make, 3), assume_unique=False)
    yield SampleInput(_repetitive(make, 20), _repetitive(make, 40))
    yield SampleInput(make(), make(3))
    yield SampleInput(make(3), make(0))
    yield SampleInput(make(3), make(0), invert=True)
    yield SampleInput(make(0), make(3))
    yield SampleInput(elements, make.integers(3, high=3))

    if make.is_floating:
        yield SampleInput(make.values([1.0, _NAN, _INF]), make.values([_NAN, _INF]))


@error_samples("isin")
def isin_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, dtype="bool"), make(2)), RuntimeError, "[Bb]ool")
    yield ErrorInput(SampleInput(make(2), make(2, dtype="complex64")), RuntimeError, "[Cc]omplex")


@samples("isin_scalar")
def isin_scalar(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool:
        return
    yield SampleInput(_repetitive(make, 4, 5), 1)
    yield SampleInput(_repetitive(make, 4), 1, invert=True)
    yield SampleInput(make(), 0)


@samples("isin_of_scalar")
def isin_of_scalar(make: Make) -> Iterator[SampleInput]:
    if make.is_complex or make.is_bool:
        return
    yield SampleInput(1, _repetitive(make, 4, 5))
    yield SampleInput(1, make.values([1, 2]), invert=True)
    yield SampleInput(2, make(0))
