"""Samples of segment_reduce."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("segment_reduce")
def segment_reduce(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return

    # The mean of an empty segment is NaN, which has no derivative.
    lengths = make.tensor([1, 2, 3] if make.requires_grad else [1, 0, 3, 2], "int64")

    for reduce in ("sum", "mean", "max", "min", "prod"):
        yield SampleInput(make(6, distinct=True), reduce, lengths=lengths)
        yield SampleInput(make(6, 2, distinct=True), reduce, lengths=lengths.to(make.torch.int32), initial=1)
        yield SampleInput(
            make(6, distinct=True),
            reduce,
            offsets=make.tensor([0, 2, 3, 6] if make.requires_grad else [0, 2, 2, 6], "int64"),
        )
        rows = make.tensor([[1, 2], [2, 1]] if make.requires_grad else [[1, 2], [0, 3]], "int64")
        yield SampleInput(make(2, 3, distinct=True), reduce, lengths=rows, axis=1, unsafe=True)

    yield SampleInput(make.values([2.0, 0.0, 3.0, 0.0, 0.0]), "prod", lengths=make.tensor([3, 2], "int64"))
    if not make.requires_grad:
        yield SampleInput(make.values([2.0, float("nan"), 3.0]), "max", lengths=make.tensor([2, 1], "int64"))
        yield SampleInput(make(0), "sum", lengths=make.tensor([0, 0], "int64"))


@error_samples("segment_reduce")
def segment_reduce_errors(make: Make) -> Iterator[ErrorInput]:
    lengths = make.tensor([1, 2], "int64")
    yield ErrorInput(SampleInput(make(3), "median", lengths=lengths), RuntimeError, "median")
    yield ErrorInput(SampleInput(make(3), "sum"), RuntimeError, "lengths or offsets")
    yield ErrorInput(SampleInput(make(4), "sum", lengths=lengths), RuntimeError, "sum to")
    yield ErrorInput(
        SampleInput(make(1), "sum", lengths=make.tensor([2, -1], "int64")), RuntimeError, "negative"
    )
    yield ErrorInput(SampleInput(make(3, 3), "sum", lengths=lengths, axis=1), RuntimeError, "last dimension")
    yield ErrorInput(SampleInput(make(3), "sum", lengths=lengths, axis=1), IndexError, "1")
