"""Samples of triangles of matrices and their indices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("triangle_indices")
def triangle_indices(make: Make) -> Iterator[SampleInput]:
    for rows, columns in ((3, 3), (2, 4), (4, 2), (0, 3), (3, 0)):
        for offset in (0, 1, -1, 5, -5):
            yield SampleInput(rows, columns, offset)
    yield SampleInput(2, 2, dtype=make.torch.int32)


@error_samples("triangle_indices")
def triangle_indices_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1, 3), RuntimeError, "row.*-1")
    yield ErrorInput(SampleInput(3, -1), RuntimeError, "col.*-1")
    yield ErrorInput(SampleInput(3, 3, dtype=make.torch.float32), NotImplementedError, "Float|float")


@samples("triangle")
def triangle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 2), -1)
    yield SampleInput(make(2, 2, 3, layout="transposed"), 1)
    yield SampleInput(make(0, 3))
    if not make.requires_grad:
        for tensor in (make(3, 4), make(4, 3), make(2, 3, 3), *make.layouts(3, 4)):
            yield SampleInput(tensor)
            yield SampleInput(tensor, 1)
            yield SampleInput(tensor, -2)
        yield SampleInput(make(3, 3), 9)


@error_samples("triangle")
def triangle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2")
