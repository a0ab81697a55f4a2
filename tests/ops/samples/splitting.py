"""Samples of split, chunk, unbind and other ways to divide a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("tensor_split_sections")
def tensor_split_sections(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5), 2)
    yield SampleInput(make(3, 4), 3, 1)
    yield SampleInput(make(3, 4, layout="transposed"), 2, -1)
    yield SampleInput(make(2), 4)
    yield SampleInput(make(0, 2), 2)


@error_samples("tensor_split_sections")
def tensor_split_sections_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0), RuntimeError, "0")
    yield ErrorInput(SampleInput(make(2), 2**62), RuntimeError, "cannot make 4611686018427387904 tensors")
    yield ErrorInput(SampleInput(make(), 1), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2), 1, 1), IndexError, "1")


@samples("tensor_split_indices")
def tensor_split_indices(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5), (2, 3))
    yield SampleInput(make(3, 4), (1, 1, 3), 1)
    yield SampleInput(make(3, 4, layout="strided"), (3, 1, -1, 9), -1)
    yield SampleInput(make(3), ())


@error_samples("tensor_split_indices")
def tensor_split_indices_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), (1,)), RuntimeError, "dim")


@samples("tensor_split_tensor")
def tensor_split_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5), make.tensor(2, "int64"))
    yield SampleInput(make(3, 4), make.tensor([1, 3], "int64"), 1)


@error_samples("tensor_split_tensor")
def tensor_split_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make.tensor([[1]], "int64")), RuntimeError, "2 dim")
    yield ErrorInput(SampleInput(make(3), make.tensor(1.0, "float32")), RuntimeError, "long")


@samples("hsplit_int")
def hsplit_int(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4), 2)
    yield SampleInput(make(3, 4), 2)
    yield SampleInput(make(2, 3, 2, layout="transposed"), 3)


@samples("vsplit_int")
def vsplit_int(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, 2), 2)
    yield SampleInput(make(3, 4, layout="transposed"), 3)


@samples("dsplit_int")
def dsplit_int(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 4), 2)


@error_samples("hsplit_int", "vsplit_int", "dsplit_int")
def named_split_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), 1), RuntimeError, "split requires a tensor with at least")
    yield ErrorInput(
        SampleInput(make(3, 3, 3), 2),
        RuntimeError,
        "size of the dimension 3 is not divisible by the split_size 2",
    )
    yield ErrorInput(SampleInput(make(3, 3, 3), 0), RuntimeError, "0")


@samples("hsplit_array")
def hsplit_array(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4), (1, 3))
    yield SampleInput(make(3, 4), (2,))


@samples("vsplit_array")
def vsplit_array(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, 2), (1, 1, 3))


@samples("dsplit_array")
def dsplit_array(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 4), (-1,))


@error_samples("hsplit_array", "vsplit_array", "dsplit_array")
def named_split_array_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(), (1,)), RuntimeError, "split requires a tensor with at least")


@samples("split")
def split(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5, 2), 2)
    yield SampleInput(make(2, 5), 2, 1)
    yield SampleInput(make(2, 6), 3, -1)
    yield SampleInput(make(4, 3, layout="transposed"), 2)
    yield SampleInput(make(0, 3), 2)
    yield SampleInput(make(3), 7)


@error_samples("split")
def split_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), -1), RuntimeError, "-1|non-negative")
    yield ErrorInput(SampleInput(make(3), 0), RuntimeError, "0")
    yield ErrorInput(SampleInput(make(3), 1, 1), IndexError, "1")
    yield ErrorInput(SampleInput(make(), 1), RuntimeError, "dim")


def _sizes(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5, 2), [2, 0, 3])
    yield SampleInput(make(2, 5), [1, 4], 1)
    yield SampleInput(make(3, 4, layout="strided"), [2, 2], -1)


@samples("split_with_sizes")
@samples("split_sizes")
def split_with_sizes(make: Make) -> Iterator[SampleInput]:
    yield from _sizes(make)


@error_samples("split_with_sizes", "split_sizes")
def split_sizes_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(5), [2, 2]), RuntimeError, "4|5")
    yield ErrorInput(SampleInput(make(5), [6, -1]), RuntimeError, "-1|negative")


@samples("unbind")
def unbind(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 2))
    yield SampleInput(make(3, 2), -1)
    yield SampleInput(make(3, 4, layout="transposed"), 0)
    yield SampleInput(make(4))
    yield SampleInput(make(0, 2))


@samples("chunk")
def chunk(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5, 2), 2)
    yield SampleInput(make(2, 5), 3, 1)
    yield SampleInput(make(3), 5)
    yield SampleInput(make(4), 1, -1)


@error_samples("chunk")
def chunk_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0), RuntimeError, "0")
    yield ErrorInput(SampleInput(make(), 1), RuntimeError, "dim")
