"""Joining, splitting, repeating, padding."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("cat")
def cat(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(2, 3), make(1, 3)])
    yield SampleInput([make(2, 3), make(2, 1), make(2, 2)], 1)
    yield SampleInput([make(2, 3), make(2, 2)], -1)
    yield SampleInput([make(2, 3)])
    yield SampleInput([make(0, 3), make(2, 3)])
    yield SampleInput([make(3, 4, layout="transposed"), make(3, 4, layout="strided")], 0)
    yield SampleInput([make(3), make(4), make(2)])
    if not make.requires_grad:
        yield SampleInput([make(0), make(2, 3)])  # an empty vector goes with everything
        yield SampleInput([make(2, 3, layout="expanded"), make(2, 3)], 1)
        yield SampleInput((make(2, 40), make(2, 31)), 1)
        for dtype in ("float32", "int64", "bool", "float64"):
            yield SampleInput([make(2), make(2, dtype=dtype)])


@error_samples("cat")
def cat_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2, 3), make(2, 4)]), RuntimeError, "3.*4|4.*3")
    yield ErrorInput(SampleInput([make(2, 3), make(3)]), RuntimeError, "dim")
    yield ErrorInput(SampleInput([make(2), make()]), RuntimeError, "zero-dim|0-dim")
    yield ErrorInput(SampleInput([make(2, 3), make(2, 3)], 2), IndexError, "2")
    yield ErrorInput(SampleInput([]), ValueError, "non-empty|empty")  # a RuntimeError for ``stack``


@samples("stack")
def stack(make: Make) -> Iterator[SampleInput]:
    for dim in (0, 1, -1):
        yield SampleInput([make(2, 3), make(2, 3), make(2, 3)], dim)
    yield SampleInput([make(), make()])
    yield SampleInput([make(2)], -1)
    yield SampleInput([make(0, 2), make(0, 2)], 1)
    yield SampleInput([make(3, 4, layout="transposed"), make(3, 4)], 2)


@error_samples("stack")
def stack_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2), make(3)]), RuntimeError, "2.*3|3.*2")
    yield ErrorInput(SampleInput([make(2), make(2)], 2), IndexError, "2")
    yield ErrorInput(SampleInput([]), RuntimeError, "non-empty|empty")


@samples("stack_simple")
def stack_simple(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(3), make(3)])
    yield SampleInput([make(2, 3), make(2, 3)])
    yield SampleInput([make(), make(), make()])
    yield SampleInput([make(2, 3, 2), make(2, 3, 2)])


@error_samples("stack_simple")
def stack_simple_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2, 3, 2), make(2, 1, 3)]), RuntimeError, "[sS]ize")


# Parts


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
def split_with_sizes(make: Make) -> Iterator[SampleInput]:
    yield from _sizes(make)


@samples("split_sizes")
def split_sizes(make: Make) -> Iterator[SampleInput]:
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


# Repetition and order


@samples("repeat")
def repeat(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), (2, 2))
    yield SampleInput(make(3), (2, 1, 2))
    yield SampleInput(make(), (3,))
    yield SampleInput(make(2), (0,))
    yield SampleInput(make(2, 3, layout="transposed"), (1, 2))
    # Only ``tile`` calls its argument so, and takes fewer numbers than there are dimensions.
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


@samples("flip")
def flip(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, (0,))
        yield SampleInput(tensor, (-1, 0))
    yield SampleInput(make(2, 3), ())
    yield SampleInput(make(0, 3), (1,))
    yield SampleInput(make(2, 41), (1,))


@error_samples("flip")
def flip_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (0, 0)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3), (2,)), IndexError, "2")


@samples("roll")
def roll(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5), 2, 0)
    yield SampleInput(make(3, 4), (1, -2), (0, 1))
    yield SampleInput(make(3, 4), 5)
    yield SampleInput(make(3, 4, layout="transposed"), -1, -1)
    yield SampleInput(make(0), 1, 0)
    yield SampleInput(make(3, 4), 7, 1)


@error_samples("roll")
def roll_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), (1, 2), (0,)), RuntimeError, "shifts|dims")
    yield ErrorInput(SampleInput(make(3), 1, 1), IndexError, "1")


@samples("constant_pad")
def constant_pad(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), (1, 2))
    yield SampleInput(make(2, 3), (1, 0, 0, 2), 1)
    yield SampleInput(make(2, 3), (-1, 1), 1)
    yield SampleInput(make(2, 3, layout="transposed"), (1, 1, -1, 0))
    yield SampleInput(make(3), (0, 0))
    yield SampleInput(make(0, 2), (0, 0, 1, 1))
    if make.is_inexact:
        yield SampleInput(make(2, 3), (2, 1), -1.5)


@error_samples("constant_pad")
def constant_pad_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), (1,)), RuntimeError, "pad|even")
    yield ErrorInput(SampleInput(make(3), (1, 1, 1, 1)), RuntimeError, "pad")
    yield ErrorInput(SampleInput(make(3), (-4, 0)), RuntimeError, "-4|negative|pad")


# Diagonals and grids


@samples("diag")
def diag(make: Make) -> Iterator[SampleInput]:
    for diagonal in (0, 1, -1):
        yield SampleInput(make(3), diagonal)
        yield SampleInput(make(3, 4), diagonal)
    yield SampleInput(make(3, 3, layout="transposed"))


@error_samples("diag")
def diag_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 2)), RuntimeError, "3")
    yield ErrorInput(SampleInput(make()), RuntimeError, "0|dim")


@samples("diag_embed")
def diag_embed(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3))
    yield SampleInput(make(2, 3))
    yield SampleInput(make(2, 3), 1)
    yield SampleInput(make(2, 3), -1, 0, 2)


@error_samples("diag_embed")
def diag_embed_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, 1, 1), RuntimeError, "1")
    yield ErrorInput(SampleInput(make(3), 0, 0, 2), IndexError, "2")


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


@samples("meshgrid")
def meshgrid(make: Make) -> Iterator[SampleInput]:
    for indexing in ("ij", "xy"):
        yield SampleInput([make(2), make(3)], indexing=indexing)
        yield SampleInput([make(2), make(3), make(4)], indexing=indexing)
        yield SampleInput([make(2)], indexing=indexing)
    yield SampleInput([make(), make(3)], indexing="ij")


@error_samples("meshgrid")
def meshgrid_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([make(2, 2), make(3)], indexing="ij"), RuntimeError, "2")
    yield ErrorInput(SampleInput([make(2), make(3)], indexing="zz"), RuntimeError, "zz|indexing")
