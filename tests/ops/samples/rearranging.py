"""Stacks, splits, repetitions and turns in the manner of NumPy; views written to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _shapes(make: Make) -> Iterator[Any]:
    for shape in ((), (3,), (2, 3), (2, 3, 2), (0,), (2, 0)):
        yield make(*shape)
    yield from make.layouts(3, 4)


# Joining


@samples("at_least")
def at_least(make: Make) -> Iterator[SampleInput]:
    for tensor in _shapes(make):
        yield SampleInput(tensor)


@samples("at_least_each")
def at_least_each(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(), make(3), make(2, 3), make(2, 3, 2)])
    yield SampleInput([make(0)])


@samples("block_diag")
def block_diag(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(2, 3)])
    yield SampleInput([make(2, 3), make(), make(2), make(1, 2)])
    yield SampleInput([make(3, 2, layout="transposed"), make(2, 2)])
    yield SampleInput([make(2, 0), make(1, 2), make(0)])
    if not make.requires_grad:
        yield SampleInput([make(2), make(2, 2, dtype="float64")])


@error_samples("block_diag")
def block_diag_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2), make(2, 3, 2)]), RuntimeError, "Input 1 has 3 dim")


@samples("cartesian_prod")
def cartesian_prod(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(3)])
    yield SampleInput([make(3), make(2)])
    yield SampleInput([make(2), make(2), make(1)])
    yield SampleInput([make(2), make(0)])


@error_samples("cartesian_prod")
def cartesian_prod_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2), make(2, 3)]), RuntimeError, r"1D vector.*\[2, 3\]")
    yield ErrorInput(SampleInput([]), RuntimeError, "empty")
    yield ErrorInput(SampleInput([make(2), make(2, dtype="float64")]), RuntimeError, "dtype")


@samples("combinations")
def combinations(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4))
    yield SampleInput(make(4), 3)
    yield SampleInput(make(3), 2, True)
    yield SampleInput(make(3), r=1, with_replacement=True)
    yield SampleInput(make(2), 4)
    yield SampleInput(make(2), 4, with_replacement=True)
    yield SampleInput(make(0), 2)
    if not make.requires_grad:  # nothing is taken
        yield SampleInput(make(3), 0)


@error_samples("combinations")
def combinations_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2)), RuntimeError, r"1D vector.*\[2, 2\]")
    yield ErrorInput(SampleInput(make(2), -1), RuntimeError, "-1")


# Splitting


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


# Repeating and turning


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


@samples("rot90")
def rot90(make: Make) -> Iterator[SampleInput]:
    for k in (-1, 0, 1, 2, 3, 5):
        yield SampleInput(make(2, 3), k)
    yield SampleInput(make(2, 3, 2), 1, (1, -1))
    yield SampleInput(make(3, 4, layout="transposed"), 1, (1, 0))
    yield SampleInput(make(2, 3, 2, layout="transposed"), 3, (0, 2))


@error_samples("rot90")
def rot90_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 1, (0,)), RuntimeError, "1")
    yield ErrorInput(SampleInput(make(2, 3), 1, (0, 0)), RuntimeError, "different")
    yield ErrorInput(SampleInput(make(2)), RuntimeError, "2")
    yield ErrorInput(SampleInput(make(2, 3), 1, (0, 2)), IndexError, "2")


@samples("flip_named")
def flip_named(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3, 2))
    yield SampleInput(make(2, 3, 2, 2, layout="channels_last"))
    yield SampleInput(make(0, 3))
    for tensor in make.layouts(3, 4):
        yield SampleInput(tensor)


@error_samples("flip_named")
def flip_named_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make()), RuntimeError, "Input must be")


@samples("diagflat")
def diagflat(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(), make(3), make(2, 2), make(2, 3, layout="transposed"), make(0)):
        yield SampleInput(tensor)
    yield SampleInput(make(2), 1)
    yield SampleInput(make(2), -2)


# Parts replaced


@samples("select_scatter")
def select_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(4), 0, 1)
    yield SampleInput(make(3, 4, layout="transposed"), make(3), 1, -1)
    yield SampleInput(make(3), make(), 0, 2)


@error_samples("select_scatter")
def select_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), make(3), 0, 1), RuntimeError, r"\[3\].*\[4\]")
    yield ErrorInput(SampleInput(make(3, 4), make(4), 0, 3), IndexError, "3")


@samples("slice_scatter")
def slice_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4, 3), make(2, 3), 0, 1, 3)
    yield SampleInput(make(4, 3), make(2, 3), 0, None, None, 2)
    yield SampleInput(make(3, 4, layout="transposed"), make(3, 2), -1, -2)
    yield SampleInput(make(3, 4, layout="strided"), make(3, 4), 1)
    yield SampleInput(make(3), make(0), 0, 3)


@error_samples("slice_scatter")
def slice_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 3), make(1, 3), 0, 0, 2), RuntimeError, r"\[1, 3\].*\[2, 3\]")
    yield ErrorInput(SampleInput(make(4), make(4), 1), IndexError, "1")


@samples("diagonal_scatter")
def diagonal_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make(3))
    yield SampleInput(make(3, 4), make(3), 1)
    yield SampleInput(make(2, 3, 4, layout="transposed"), make(3, 2), 0, 0, 2)


@error_samples("diagonal_scatter")
def diagonal_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), make(2)), RuntimeError, r"\[2\].*\[3\]")


@samples("as_strided_scatter")
def as_strided_scatter(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(12), make(2, 2), (2, 2), (4, 1))
    yield SampleInput(make(12), make(3), (3,), (2,), 5)
    yield SampleInput(make(3, 4, layout="transposed"), make(2, 2), (2, 2), (1, 3), 1)


@error_samples("as_strided_scatter")
def as_strided_scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), make(3), (2,), (1,)), RuntimeError, r"\[3\].*\[2\]")
    yield ErrorInput(SampleInput(make(4), make(3), (3,), (2,)), RuntimeError, "bounds|storage")


@samples("slice_inverse")
def slice_inverse(make: Make) -> Iterator[SampleInput]:
    whole = make(4, 3, requires_grad=False)
    yield SampleInput(make(4, 3), whole)
    if not make.requires_grad:
        yield SampleInput(whole[:2], whole, 0, None, 2)
        yield SampleInput(whole[:, ::2], whole, 1, None, None, 2)


# Queries


@samples("same_size")
def same_size(make: Make) -> Iterator[SampleInput]:
    first = make(2, 3)
    yield SampleInput(first, first)
    yield SampleInput(first, first[:])
    yield SampleInput(first, make(2, 3))
    yield SampleInput(first, first[0])
    yield SampleInput(first, first.t())


@samples("adjoint")
def adjoint(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3, 4, layout="transposed"))
    yield SampleInput(make(0, 3))


@error_samples("adjoint")
def adjoint_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "1-D")


@samples("narrow_tensor")
def narrow_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 1, make.tensor(1, "int64"), 2)
    yield SampleInput(make(3, 4), 0, make.tensor(-1, "int32"), 1)


@error_samples("narrow_tensor")
def narrow_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.tensor([1], "int64"), 1), RuntimeError, "0-dim")
    yield ErrorInput(SampleInput(make(3), 0, make.tensor(1.0, "float32"), 1), RuntimeError, "integral")


@samples("view_dtype")
def view_dtype(make: Make) -> Iterator[SampleInput]:
    torch = make.torch
    if make.is_inexact:
        for dtype in (torch.uint8, torch.int16, torch.int32, torch.bool, make.dtype):
            yield SampleInput(make(2, 4), dtype)
        yield SampleInput(make(4, 4, layout="offset"), torch.uint8)
        yield SampleInput(make(2, 0), torch.uint8)
    else:
        yield SampleInput(make(2, 8), torch.uint8)
        yield SampleInput(make(3, 8, layout="offset"), torch.int64)
    yield SampleInput(make(3, 2, layout="transposed"), make.dtype)
    yield SampleInput(make(), make.dtype)


@error_samples("view_dtype")
def view_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    torch = make.torch
    yield ErrorInput(SampleInput(make(), torch.uint8), RuntimeError, "dim")
    yield ErrorInput(
        SampleInput(make(2, 3), torch.float64), RuntimeError, r"size\(-1\) must be divisible by 2.*3"
    )
    yield ErrorInput(SampleInput(make(2, 4, layout="transposed"), torch.float64), RuntimeError, "stride|size")
    yield ErrorInput(SampleInput(make(5)[1:], torch.float64), RuntimeError, "storage_offset.*1")


@samples("resize_as_")
def resize_as_(make: Make) -> Iterator[SampleInput]:
    if not make.requires_grad:
        yield SampleInput(make(2, 3), make(3, 2))
        yield SampleInput(make(2, 3), make(4))
        yield SampleInput(make(2, 3), make())
