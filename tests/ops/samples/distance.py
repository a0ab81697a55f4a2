"""Samples of distances between vectors."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("dist")
def dist(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(2, 3), make(3), p=1)
    yield SampleInput(make(2, 3), make(2, 1), 3)
    yield SampleInput(make(2, 3, distinct=True), make(2, 3), float("inf"))
    yield SampleInput(make(), make())


@samples("pairwise_distance")
def pairwise_distance(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(2, 3), make(3), p=1, keepdim=True)
    yield SampleInput(make(2, 2, 3), make(2, 3), 3.0, 1e-3)


@samples("cosine_similarity")
def cosine_similarity(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(2, 3), make(3), dim=-1)
    yield SampleInput(make(2, 3, 2, layout="transposed"), make(2, 1, 2), 0)
    yield SampleInput(make(3), make(3), dim=0, eps=1e-3)


@error_samples("cosine_similarity")
def cosine_similarity_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 2, dtype="int64"), make(2, 2, dtype="int64")),
        RuntimeError,
        "floating point.*Long",
    )


@samples("cdist")
def cdist(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(4, 3))
    yield SampleInput(make(2, 2, 3), make(3, 3), p=1)
    yield SampleInput(make(3, 2, layout="transposed"), make(2, 2), 3.0)
    yield SampleInput(make(2, 3), make(2, 3), float("inf"))
    yield SampleInput(make(2, 3), make(2, 3), compute_mode=1)
    yield SampleInput(make(0, 3), make(2, 3))
    yield SampleInput(make(2, 0), make(3, 0))
    if not make.requires_grad:
        rows = make.tensor([[float("nan"), 1.0], [0.0, 2.0]], "float32")
        yield SampleInput(rows, rows, 0.0)
        yield SampleInput(make(2, 3), make(2, 3), 0.0)
        yield SampleInput(make(30, 11), make(7, 11), p=2, compute_mode=2)
        yield SampleInput(make(2, 1, 3, 5), make(1, 3, 4, 5), p=2.0)


@error_samples("cdist")
def cdist_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2)), RuntimeError, "same number of columns. X1: 3 X2: 2")
    yield ErrorInput(SampleInput(make(2, 3), make(2, 3), -1.0), RuntimeError, "non-negative p")
    yield ErrorInput(SampleInput(make(3), make(2, 3)), RuntimeError, "2D")


@samples("pdist")
def pdist(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, 3))
    yield SampleInput(make(3, 2), p=1)
    yield SampleInput(make(3, 4), float("inf"))
    yield SampleInput(make(1, 3))
    yield SampleInput(make(0, 3))


@error_samples("pdist")
def pdist_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2D tensors, got: 1D")
    yield ErrorInput(SampleInput(make(2, 2), p=-1.0), RuntimeError, "non-negative p")
