"""Samples of writes by index with a reduction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _calls(make: Make) -> Iterator[tuple[Any, int, Any, Any]]:
    """self, dim, index, src."""
    rows = make.integers(4, 3, high=2)

    yield make(2, 3, distinct=True), 0, rows, make(4, 3, distinct=True)
    yield (
        make(2, 3, layout="transposed", distinct=True),
        -1,
        make.integers(2, 4, high=3),
        make(2, 4, distinct=True),
    )
    yield (
        make(3),
        0,
        make.tensor([0, 0, 2, 0], "int64"),
        make.values([1, 0, 2, 3] if not make.is_bool else [1, 0, 1, 1]),
    )

    yield make(3), 0, make.integers(0, high=3), make(0)
    yield make(), 0, make.integers(high=1), make()
    yield make(3, 2, distinct=True), 0, make.integers(2, 1, high=3), make(3, 2, distinct=True)


@samples("scatter_reduce")
def scatter_reduce(make: Make) -> Iterator[SampleInput]:
    for own, dim, index, src in _calls(make):
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            if make.is_complex and reduce in ("amax", "amin"):
                continue
            larger = tuple(index.shape) != tuple(src.shape)
            if make.requires_grad and larger:
                continue  # PyTorch has no gradient for a source that is larger than the index
            yield SampleInput(own, dim, index, src, reduce)
            if own.dim() == 1 or reduce == "prod":
                yield SampleInput(own, dim, index, src, reduce, include_self=False)


@error_samples("scatter_reduce")
def scatter_reduce_errors(make: Make) -> Iterator[ErrorInput]:
    zero = make.tensor([0], "int64")
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1), "median"), RuntimeError, "median")
    yield ErrorInput(SampleInput(make(3), 0, make.tensor([3], "int64"), make(1), "sum"), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1, dtype="float64"), "sum"), RuntimeError, "dtype")
    yield ErrorInput(SampleInput(make(3), 1, zero, make(1), "sum"), IndexError, "1")
    yield ErrorInput(SampleInput(make(3, 3), 0, zero, make(1), "prod"), RuntimeError, "dim")
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0, 1], "int64"), make(1), "amax"), RuntimeError, r"\[2\]"
    )


@samples("scatter_reducing")
def scatter_reducing(make: Make) -> Iterator[SampleInput]:
    for own, dim, index, src in _calls(make):
        if make.requires_grad and tuple(index.shape) != tuple(src.shape):
            continue
        for reduce in ("add", "multiply"):
            yield SampleInput(own, dim, index, src, reduce=reduce)


@error_samples("scatter_reducing")
def scatter_reducing_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0], "int64"), make(1), reduce="sum"),
        RuntimeError,
        "add or multiply",
    )


@samples("scatter_value_reducing")
def scatter_value_reducing(make: Make) -> Iterator[SampleInput]:
    for own, dim, index, _ in _calls(make):
        for reduce in ("add", "multiply"):
            yield SampleInput(own, dim, index, 2, reduce=reduce)


@error_samples("scatter_value_reducing")
def scatter_value_reducing_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0], "int64"), 1, reduce="sum"), RuntimeError, "add or multiply"
    )


@samples("index_reduce")
def index_reduce(make: Make) -> Iterator[SampleInput]:
    for reduce in ("prod", "mean", "amax", "amin"):
        if make.is_complex and reduce in ("amax", "amin"):
            continue

        yield SampleInput(
            make(3, 4, distinct=True), 0, make.integers(5, high=3), make(5, 4, distinct=True), reduce
        )
        yield SampleInput(
            make(3, 4, layout="transposed"),
            -1,
            make.tensor([1, 3], "int64"),
            make(3, 2),
            reduce,
            include_self=False,
        )

        yield SampleInput(make(3), 0, make.integers(0, high=3), make(0), reduce)
        yield SampleInput(make(), 0, make.tensor([0], "int64"), make(), reduce)


@error_samples("index_reduce")
def index_reduce_errors(make: Make) -> Iterator[ErrorInput]:
    zero = make.tensor([0], "int64")

    yield ErrorInput(SampleInput(make(3), 0, zero, make(1), "sum"), RuntimeError, "sum")
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([3], "int64"), make(1), "prod"), IndexError, "range|3"
    )
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1, dtype="float64"), "prod"), RuntimeError, "type")
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0, 1], "int64"), make(1), "prod"), RuntimeError, "2.*1"
    )
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0.0], "float32"), make(1), "prod"), RuntimeError, "index"
    )
