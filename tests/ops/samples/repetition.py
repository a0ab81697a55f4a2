"""Samples of repeat and repeat_interleave."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("repeat_interleave_indices")
def repeat_interleave_indices(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make.tensor([1, 0, 3], "int64"))
        yield SampleInput(make.tensor([2, 1], "int32"), output_size=3)
        yield SampleInput(make.tensor([], "int64"))


@error_samples("repeat_interleave_indices")
def repeat_interleave_indices_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make.tensor([[1]], "int64")), RuntimeError, "1D")
    yield ErrorInput(SampleInput(make.tensor([-1], "int64")), RuntimeError, "negative")
    yield ErrorInput(SampleInput(make.tensor([1], "int64"), output_size=2), RuntimeError, "size")


@samples("repeat_interleave_tensor")
def repeat_interleave_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make.tensor([1, 2], "int64"), 0)
    yield SampleInput(make(3, 4, layout="transposed"), make.tensor([1, 0, 2, 1], "int64"), -1)
    yield SampleInput(make(2, 3), make.tensor([1, 0, 2, 1, 1, 3], "int32"))
    yield SampleInput(make(2, 3), make.tensor([2], "int64"), 1, output_size=6)
    yield SampleInput(make(2, 3), make.tensor(2, "int64"), 0)


@error_samples("repeat_interleave_tensor")
def repeat_interleave_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make.tensor([1, 2, 3], "int64"), 0), RuntimeError, "3.*2")
    yield ErrorInput(SampleInput(make(2, 3), make.tensor([[1, 2]], "int64"), 0), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3), make.tensor([1, 2], "int64"), 2), IndexError, "2")


@samples("repeat")
def repeat(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), (2, 2))
    yield SampleInput(make(3), (2, 1, 2))
    yield SampleInput(make(), (3,))
    yield SampleInput(make(2), (0,))
    yield SampleInput(make(2, 3, layout="transposed"), (1, 2))
    # Only ``tile`` has an argument of this name, and accepts fewer numbers than dimensions.
    yield SampleInput(make(2, 3), dims=(2,))


@error_samples("repeat")
def repeat_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), repeats=(2,)), RuntimeError, "dimension")
    yield ErrorInput(SampleInput(make(2), (-1,)), RuntimeError, "-")


@samples("repeat_interleave")
def repeat_interleave(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), 2)
    yield SampleInput(make(2, 3), 3, 0)
    yield SampleInput(make(2, 3), 2, -1)
    yield SampleInput(make(2, 3), 0, 1)
    yield SampleInput(make(2, 3, layout="transposed"), 2, 1)
    yield SampleInput(make(), 3)


@error_samples("repeat_interleave")
def repeat_interleave_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), -1, 0), RuntimeError, "-1|negative")
    yield ErrorInput(SampleInput(make(2), 2, 1), IndexError, "1")
