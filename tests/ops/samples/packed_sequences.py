"""Samples of packed and padded sequences."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("pack_padded_sequence")
def pack_padded_sequence(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, 3, 2), make.values([4, 2, 1], "int64"), False)
    yield SampleInput(make(2, 4), make.values([3, 3], "int64"), True)


@error_samples("pack_padded_sequence")
def pack_padded_sequence_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 2, 2), make.values([2, 3], "int64"), False), RuntimeError, "sorted")
    yield ErrorInput(
        SampleInput(make(4, 2, 2), make.values([2, 0], "int64"), False), RuntimeError, "greater than 0"
    )
    yield ErrorInput(SampleInput(make(4, 2, 2), make.values([2], "int64"), False), RuntimeError, "batch_size")


@samples("pad_packed_sequence")
def pad_packed_sequence(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(6, 2), make.values([3, 2, 1], "int64"), False, 0, 0)
    yield SampleInput(make(6, 2), make.values([3, 2, 1], "int64"), True, 1, 5)
    yield SampleInput(make(4), make.values([2, 2], "int64"), False, 0, 2)


@error_samples("pad_packed_sequence")
def pad_packed_sequence_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(6, 2), make.values([3, 2, 1], "int64"), False, 0.0, 2), RuntimeError, "total_length"
    )
