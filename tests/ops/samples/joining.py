"""Samples of cat, stack and other ways to join tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _shapes(make: Make) -> Iterator[Any]:
    for shape in ((), (3,), (2, 3), (2, 3, 2), (0,), (2, 0)):
        yield make(*shape)
    yield from make.layouts(3, 4)


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


@samples("_chunk_cat")
def _chunk_cat(make: Make) -> Iterator[SampleInput]:
    yield SampleInput([make(2, 3), make(5, 3)], 0, 2)
    yield SampleInput([make(2, 3, 4), make(2, 5, 2)], 1, 2)
    yield SampleInput([make(2, 3), make(2, 5)], -1, 3)
    yield SampleInput([make(4), make(3, 2, layout="transposed")], 0, 4)
    yield SampleInput([make(2)], 0, 5)


@error_samples("_chunk_cat")
def _chunk_cat_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput([], 0, 2), RuntimeError, "non-empty")
    yield ErrorInput(SampleInput([make(2)], 0, 0), RuntimeError, "positive num_chunks")
    yield ErrorInput(SampleInput([make(2, 3), make(3, 3)], 1, 2), RuntimeError, "same sizes")
    yield ErrorInput(SampleInput([make(2, 3), make(2)], -1, 2), RuntimeError, "non-negative dim")
    yield ErrorInput(SampleInput([make(0), make(2)], 0, 2), RuntimeError, "non-empty")
    yield ErrorInput(SampleInput([make(2, 3), make(2)], 1, 2), RuntimeError, "dim < ndim")
    other = make(2, dtype="int32")
    yield ErrorInput(SampleInput([make(2), other], 0, 2), RuntimeError, "same dtype")
