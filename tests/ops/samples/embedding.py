"""Samples of embeddings and one_hot."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("embedding")
def embedding(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5, 3), make.integers(4, high=5))
    yield SampleInput(make(5, 3), make.integers(2, 3, high=5), 1)
    yield SampleInput(make(5, 3), make.integers(high=5))
    if not make.requires_grad:  # gradients are deliberately scaled by frequency
        yield SampleInput(make(5, 3), make.integers(6, high=5), -1, True)
    yield SampleInput(make(5, 3), make.integers(0, high=5))


@error_samples("embedding")
def embedding_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(5, 3), make.values([5], "int64")), IndexError, "range|5")
    yield ErrorInput(SampleInput(make(5, 3), make.values([0.0])), RuntimeError, "indices|Long|int64")
    yield ErrorInput(SampleInput(make(5), make.values([0], "int64")), RuntimeError, "2|weight")


@samples("one_hot")
def one_hot(make: Make) -> Iterator[SampleInput]:
    classes = make.integers(4, high=3)
    yield SampleInput(classes, 5)
    yield SampleInput(classes)
    yield SampleInput(make.integers(2, 2, high=3), 3)
    yield SampleInput(make.integers(high=3), 4)
    yield SampleInput(make.integers(0, high=3), 4)


@error_samples("one_hot")
def one_hot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make.values([3], "int64"), 3), RuntimeError, "num_classes|class")
    yield ErrorInput(SampleInput(make.values([-1], "int64"), 3), RuntimeError, "negative|class")
    yield ErrorInput(SampleInput(make(2), 3), RuntimeError, "index|Long|int64")


@samples("embedding_renorm")
def embedding_renorm(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(make(4, 3), make.values([0, 2, 2], "int64"), 1.0, 2.0)
        yield SampleInput(make(4, 3), make.values([[3], [1]], "int64"), 0.5, 1.0)


@error_samples("embedding_renorm")
def embedding_renorm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), make.values([0], "int64"), 1.0, 2.0), RuntimeError, "2-D|2D")
