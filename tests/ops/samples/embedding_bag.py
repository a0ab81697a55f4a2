"""Samples of embedding_bag."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("embedding_bag")
def embedding_bag(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return

    indices, offsets = make.values([0, 2, 1, 3, 3], "int64"), make.values([0, 2, 2], "int64")
    for mode in (0, 1, 2):
        yield SampleInput(make(4, 3, distinct=True), indices, offsets, False, mode)
        yield SampleInput(
            make(4, 3, distinct=True),
            indices,
            make.values([0, 2, 5], "int64"),
            False,
            mode,
            False,
            None,
            True,
        )
        yield SampleInput(make(4, 3, distinct=True), indices, offsets, False, mode, False, None, False, 3)
    yield SampleInput(make(4, 3), indices, offsets, False, 0, False, make(5))


@error_samples("embedding_bag")
def embedding_bag_errors(make: Make) -> Iterator[ErrorInput]:
    indices = make.values([0, 2, 1], "int64")
    yield ErrorInput(SampleInput(make(4, 3), indices, make.values([1], "int64")), RuntimeError, "offsets")
    yield ErrorInput(SampleInput(make(4, 3), indices, make.values([0, 4], "int64")), RuntimeError, "offsets")
    yield ErrorInput(
        SampleInput(make(4, 3), indices, make.values([0], "int64"), False, 1, False, make(3)),
        RuntimeError,
        "mode",
    )
