"""Samples of products of several matrices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import plain
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("multi_dot")
def multi_dot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 2)])
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 1), plain(make, 1, 2)])
    yield SampleInput([plain(make, 3), plain(make, 3, 2), plain(make, 2)])
    if not make.requires_grad:
        yield SampleInput([plain(make, 4, 6), plain(make, 6, 2), plain(make, 2, 7), plain(make, 7, 3)])
        yield SampleInput([plain(make, 2, 0), plain(make, 0, 3)])


@error_samples("multi_dot")
def multi_dot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2, 2)]), RuntimeError, "at least 2 tensors")
    yield ErrorInput(SampleInput([make(2, 2), make(2, 2, 2), make(2, 2)]), RuntimeError, "must be 2D")
    yield ErrorInput(SampleInput([make(2, 3), make(2, 3)]), RuntimeError, "cannot be multiplied")


@samples("chain_matmul")
def chain_matmul(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 2)])
    yield SampleInput([plain(make, 2, 3), plain(make, 3, 1), plain(make, 1, 2)])
