"""Samples of maximum pooling, fractional pooling and unpooling."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.pooling import EXTENTS, adaptive, pooled
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("max_pool1d", 1)
@samples("max_pool1d_with_indices", 1)
@samples("max_pool2d", 2)
@samples("max_pool2d_with_indices", 2)
@samples("max_pool3d", 3)
@samples("max_pool3d_with_indices", 3)
def _max_pooled(make: Make, rank: int) -> Iterator[SampleInput]:
    yield from pooled(make, rank, distinct=True)
    sizes = EXTENTS[rank]
    yield SampleInput(make(1, 1, *(size + 1 for size in sizes), distinct=True), 2, 2, 0, 2)
    yield SampleInput(make(1, 1, *(size + 1 for size in sizes), distinct=True), 2, 2, 1, 1, True)
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes().reshape(1, 1, *{1: (16,), 2: (4, 4), 3: (4, 2, 2)}[rank]), 2)


@samples("adaptive_max_pool1d")
def adaptive_max_pool1d(make: Make) -> Iterator[SampleInput]:
    yield from adaptive(make, 1, distinct=True)


@samples("adaptive_max_pool2d")
def adaptive_max_pool2d(make: Make) -> Iterator[SampleInput]:
    yield from adaptive(make, 2, distinct=True)


@samples("adaptive_max_pool3d")
def adaptive_max_pool3d(make: Make) -> Iterator[SampleInput]:
    yield from adaptive(make, 3, distinct=True)


@samples("fractional_max_pool2d")
def fractional_max_pool2d(make: Make) -> Iterator[SampleInput]:
    chosen = {"low": 0.05, "high": 0.95, "requires_grad": False}
    yield SampleInput(make(1, 2, 5, 6, distinct=True), (2, 2), (3, 2), make(1, 2, 2, **chosen))
    yield SampleInput(make(2, 6, 5, distinct=True), (2, 3), (1, 3), make(1, 2, 2, **chosen))
    if not make.requires_grad:
        yield SampleInput(make(3, 2, 9, 11, distinct=True), (3, 2), (4, 6), make(3, 2, 2, **chosen))
        yield SampleInput(make(1, 2, 5, 6, distinct=True), (2, 2), (3, 2), make(4, 2, 2, **chosen))


@samples("fractional_max_pool3d")
def fractional_max_pool3d(make: Make) -> Iterator[SampleInput]:
    chosen = {"low": 0.05, "high": 0.95, "requires_grad": False}
    yield SampleInput(make(1, 1, 4, 4, 3, distinct=True), (2, 2, 1), (2, 2, 2), make(1, 1, 3, **chosen))
    if not make.requires_grad:
        yield SampleInput(make(2, 3, 7, 8, 9, distinct=True), (2, 3, 2), (4, 3, 5), make(2, 3, 3, **chosen))
        yield SampleInput(make(3, 7, 8, 9, distinct=True), (2, 3, 2), (4, 3, 5), make(2, 3, 3, **chosen))


@error_samples("fractional_max_pool2d")
def fractional_errors(make: Make) -> Iterator[ErrorInput]:
    drawn = make(1, 2, 2, low=0, high=1)
    yield ErrorInput(SampleInput(make(1, 2, 4, 4), (2, 2), (4, 4), drawn), RuntimeError, "size|large")
    yield ErrorInput(SampleInput(make(4, 4), (2, 2), (2, 2), drawn), RuntimeError, "3|dim")
    for sizes in ((0, 2, 2), (1, 3, 2), (1, 2, 3), (1, 2)):
        wrong = make(*sizes, low=0, high=1)
        yield ErrorInput(
            SampleInput(make(1, 2, 4, 4), (2, 2), (2, 2), wrong), RuntimeError, "_random_samples"
        )


@samples("max_unpool2d")
def max_unpool2d(make: Make) -> Iterator[SampleInput]:
    places = make.tensor([[[0, 3], [9, 11]], [[1, 2], [6, 15]]], "int64")
    yield SampleInput(make(2, 2, 2), places, (4, 4))
    yield SampleInput(make(1, 2, 2, 2), places.reshape(1, 2, 2, 2), (3, 6))
    if not make.requires_grad:
        yield SampleInput(make(2, 1, 2, 2), places.reshape(2, 1, 2, 2), (4, 5))


@samples("max_unpool3d")
def max_unpool3d(make: Make) -> Iterator[SampleInput]:
    places = make.tensor([[[[0, 3]], [[9, 11]]], [[[1, 2]], [[6, 15]]]], "int64")
    yield SampleInput(make(2, 2, 1, 2), places, (4, 2, 2), (2, 2, 1), (0, 0, 0))
    yield SampleInput(make(1, 2, 2, 1, 2), places.reshape(1, 2, 2, 1, 2), (4, 2, 3), (2, 1, 1), (0, 0, 0))


@error_samples("max_unpool2d")
def max_unpool_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(1, 2, 2, 2), make.integers(1, 2, 2, 2, low=20, high=21), (4, 4)), RuntimeError, "20"
    )
    yield ErrorInput(
        SampleInput(make(1, 2, 2, 2), make.integers(1, 2, 2, 1, high=3), (4, 4)), RuntimeError, "shape"
    )
    yield ErrorInput(
        SampleInput(make(1, 2, 2, 2), make.integers(1, 2, 2, 2, high=3, dtype="int32"), (4, 4)),
        RuntimeError,
        "int64",
    )


@samples("max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    windows = ((2, 2), (2, 2), (0, 0), (1, 1), False)
    places = make.tensor([[[0, 3], [9, 11]], [[5, 2], [8, 15]]], "int64")
    own = make(2, 4, 4, requires_grad=False)
    yield SampleInput(make(2, 2, 2), own, *windows, places)
    yield SampleInput(make(1, 2, 2, 2), own[None], *windows, places[None])


@error_samples("max_pool2d_with_indices_backward")
def max_pool2d_with_indices_backward_errors(make: Make) -> Iterator[ErrorInput]:
    windows = ((2, 2), (2, 2), (0, 0), (1, 1), False)
    places = make.tensor([[[0, 3], [9, 11]]], "int64")
    yield ErrorInput(SampleInput(make(1, 2, 3), make(1, 4, 4), *windows, places), RuntimeError, "2|3")
