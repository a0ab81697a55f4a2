"""Samples of views."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.dimensions import dimension_errors, matrices
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("same_size")
def same_size(make: Make) -> Iterator[SampleInput]:
    first = make(2, 3)
    yield SampleInput(first, first)
    yield SampleInput(first, first[:])
    yield SampleInput(first, make(2, 3))
    yield SampleInput(first, first[0])
    yield SampleInput(first, first.t())


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


@samples("view")
def view(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 6), (3, 4))
    yield SampleInput(make(2, 6), (12,))
    yield SampleInput(make(2, 6), (-1, 3))
    yield SampleInput(make(), (1, 1))
    yield SampleInput(make(1, 1), ())
    yield SampleInput(make(0, 3), (3, 0, 2))
    yield SampleInput(make(0, 3), (-1, 3))
    yield SampleInput(make(4, 3, layout="offset"), (2, 6))
    yield SampleInput(make(4, 3, layout="strided"), (2, 2, 3))
    if not make.requires_grad:
        yield SampleInput(make(4, 6, layout="expanded"), (4, 2, 3))
    # Only ``reshape`` has an argument of this name; it copies where a view is impossible.
    yield SampleInput(make(4, 3, layout="transposed"), shape=(12,))
    yield SampleInput(make(2, 3, 4, layout="transposed"), shape=(6, 4))
    yield SampleInput(make(2, 6, layout="strided"), shape=(3, -1))


@samples("view_copy")
def view_copy(make: Make) -> Iterator[SampleInput]:
    yield from (sample for sample in view(make) if not sample.kwargs)
    yield SampleInput(make(2, 3, layout="transposed"), (6,))
    yield SampleInput(make(2, 3, 4, layout="transposed"), (-1, 2))
    if not make.requires_grad:
        yield SampleInput(make(4, 6, layout="expanded"), (24,))


@error_samples("view_copy")
def view_copy_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (5,)), RuntimeError, r"\[5\].*6")
    yield ErrorInput(SampleInput(make(2, 3), (-1, -1)), RuntimeError, "only one dimension can be inferred")


@error_samples("view")
def view_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (4,)), RuntimeError, r"\[4\].*6|6.*\[4\]|\(4,\)")
    yield ErrorInput(SampleInput(make(2, 3), (-1, -1)), RuntimeError, "one dimension")
    yield ErrorInput(SampleInput(make(2, 3), (4, -1)), RuntimeError, r"4, -1")
    yield ErrorInput(SampleInput(make(2, 3), (-2, 3)), RuntimeError, "-2")
    yield ErrorInput(SampleInput(make(0), (-1, 0)), RuntimeError, "-1")
    # Only ``view`` has an argument of this name, and it never copies.
    yield ErrorInput(SampleInput(make(2, 3, layout="transposed"), size=(6,)), RuntimeError, "view|stride")


@samples("as_strided")
def as_strided(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(12), (3, 4), (4, 1))
    yield SampleInput(make(12), (2, 2), (1, 3), 2)
    yield SampleInput(make(3, 4), (2, 3, 2), (4, 1, 1))  # elements seen several times
    yield SampleInput(make(3), (2, 3), (0, 1))
    yield SampleInput(make(4), (), ())
    yield SampleInput(make(4), (0,), (1,))


@error_samples("as_strided")
def as_strided_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), (2, 3), (3, 1)), RuntimeError, "storage|bounds")
    yield ErrorInput(SampleInput(make(4), (2,), (-1,)), RuntimeError, "-1|[nN]egative")
    yield ErrorInput(SampleInput(make(4), (2, 2), (1,)), RuntimeError, "size|stride|length")


@samples("expand")
def expand(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 1), (3, 4))
    yield SampleInput(make(3), (2, 3))
    yield SampleInput(make(), (2, 2))
    yield SampleInput(make(3, 1), (2, -1, 4))
    yield SampleInput(make(1, 3), (0, 3))
    yield SampleInput(make(2, 3), (2, 3))


@error_samples("expand")
def expand_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (2, 4)), RuntimeError, "4.*3|3.*4")
    yield ErrorInput(SampleInput(make(2, 3), (3,)), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(3), (-1, 3)), RuntimeError, "-1")


@samples("expand_as")
def expand_as(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 1), make(2, 3, 4, requires_grad=False))
    yield SampleInput(make(), make(2, requires_grad=False))


@error_samples("expand_as")
def expand_as_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(4)), RuntimeError, "3.*4|4.*3")


@samples("squeeze")
def squeeze(make: Make) -> Iterator[SampleInput]:
    for shape in ((1, 3, 1), (2, 3), (1, 1), (), (1, 0)):
        yield SampleInput(make(*shape))


@samples("squeeze_dim")
def squeeze_dim(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 3, 1), 0)
    yield SampleInput(make(1, 3, 1), -1)
    yield SampleInput(make(1, 3, 1), 1)
    yield SampleInput(make(), 0)


@samples("squeeze_dims")
def squeeze_dims(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 3, 1), (0, 2))
    yield SampleInput(make(1, 3, 1), (0, 1))
    yield SampleInput(make(1, 3, 1), ())


@samples("unsqueeze")
def unsqueeze(make: Make) -> Iterator[SampleInput]:
    for tensor in (*matrices(make), make()):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)
    yield SampleInput(make(2, 3), 1)


@error_samples("squeeze_dim", "unbind")
def squeeze_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dimension_errors(make)


@error_samples("unsqueeze")
def unsqueeze_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 3), IndexError, "3")
    yield ErrorInput(SampleInput(make(2, 3), -4), IndexError, "-4")


@samples("select")
def select(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 0, 1)
    yield SampleInput(make(3, 4), 1, -1)
    yield SampleInput(make(3, 4, layout="transposed"), -1, 2)
    yield SampleInput(make(5), 0, 4)


@error_samples("select")
def select_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 0, 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(2, 3), 1, -4), IndexError, "-4")
    yield ErrorInput(SampleInput(make(), 0, 0), IndexError, "0-dim|dim")
    yield from dimension_errors(make, after=(0,))


@samples("slice")
def slice_(make: Make) -> Iterator[SampleInput]:
    for tensor in (*matrices(make), make(5)):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 0, 1, 3)
        yield SampleInput(tensor, -1, -2, None)
        yield SampleInput(tensor, 0, None, None, 2)
    yield SampleInput(make(5), 0, 4, 2)
    yield SampleInput(make(5), 0, -100, 100)


@error_samples("slice")
def slice_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 1, 0, 2), IndexError, "1")


@samples("narrow")
def narrow(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, 0, 1, 2)
        yield SampleInput(tensor, 1, -2, 2)
    yield SampleInput(make(3), 0, 3, 0)


@error_samples("narrow")
def narrow_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, 2, 2), RuntimeError, "2")
    yield ErrorInput(SampleInput(make(3), 0, 0, -1), RuntimeError, "length|-1")
    yield ErrorInput(SampleInput(make(3), 0, 4, 0), IndexError, "4")
    yield ErrorInput(SampleInput(make(), 0, 0, 1), RuntimeError, "0-dim|scalar")


@samples("unfold")
def unfold(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(7), 0, 3, 2)
    yield SampleInput(make(7), 0, 2, 1)
    yield SampleInput(make(3, 5), 1, 2, 1)
    yield SampleInput(make(5, 3), -2, 5, 1)
    yield SampleInput(make(), 0, 1, 1)


@error_samples("unfold")
def unfold_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, 4, 1), RuntimeError, "4")
    yield ErrorInput(SampleInput(make(3), 0, 2, 0), RuntimeError, "step")
    yield ErrorInput(SampleInput(make(3), 0, -1, 1), RuntimeError, "-1|size")
    yield ErrorInput(SampleInput(make(3), 1, 1, 1), IndexError, "1")
