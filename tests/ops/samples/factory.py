"""Samples of tensors made from a shape, from a number or like another tensor.

The dtype under test is passed as ``dtype=``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_SHAPES: tuple[tuple[int, ...], ...] = ((2, 3), (), (0,), (2, 0, 3), (70,))


@samples("factory_size")
def factory_size(make: Make) -> Iterator[SampleInput]:
    for shape in _SHAPES:
        yield SampleInput(shape, dtype=make.dtype)
    yield SampleInput([2, 1], dtype=make.dtype, device="cpu")
    yield SampleInput((2, 3))


@error_samples("factory_size", "random_size")
def factory_size_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput((2, -1)), RuntimeError, "-1")
    yield ErrorInput(SampleInput((2.5, 1)), TypeError, "size")


@samples("factory_strided")
def factory_strided(make: Make) -> Iterator[SampleInput]:
    yield SampleInput((2, 3), (3, 1), dtype=make.dtype)
    yield SampleInput((2, 3), (1, 2), dtype=make.dtype)
    yield SampleInput((2, 3), (0, 4), dtype=make.dtype)
    yield SampleInput((), (), dtype=make.dtype)
    yield SampleInput((0, 2), (2, 1))


@error_samples("factory_strided")
def factory_strided_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput((2, 3), (1,)), RuntimeError, "size|stride|length|dim")
    yield ErrorInput(SampleInput((2,), (-1,)), RuntimeError, "-1")


def _likes(make: Make) -> Iterator[Any]:
    for shape in _SHAPES:
        yield make(*shape)
    yield from make.layouts(3, 4)


@samples("factory_like")
def factory_like(make: Make) -> Iterator[SampleInput]:
    for tensor in _likes(make):
        yield SampleInput(tensor)
    yield SampleInput(make(2, 3), dtype=make.torch.int64)
    yield SampleInput(
        make(2, 3, layout="transposed"), dtype=make.torch.float64, memory_format=make.torch.contiguous_format
    )


@samples("factory_full")
def factory_full(make: Make) -> Iterator[SampleInput]:
    for shape in _SHAPES:
        yield SampleInput(shape, 1, dtype=make.dtype)
    for number in (2, 2.5, True):
        yield SampleInput((2,), number)


@error_samples("factory_full")
def factory_full_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput((-1,), 1), RuntimeError, "-1")


@samples("factory_full_like")
def factory_full_like(make: Make) -> Iterator[SampleInput]:
    for tensor in _likes(make):
        yield SampleInput(tensor, 1)
    yield SampleInput(make(2, 3), 2.5, dtype=make.torch.float64)


@samples("factory_new")
def factory_new(make: Make) -> Iterator[SampleInput]:
    for shape in _SHAPES:
        yield SampleInput(make(2), shape)
    yield SampleInput(make(2), (3,), dtype=make.torch.float64)


@samples("factory_new_full")
def factory_new_full(make: Make) -> Iterator[SampleInput]:
    for shape in _SHAPES:
        yield SampleInput(make(2), shape, 1)
    yield SampleInput(make(2), (3,), 2.5, dtype=make.torch.float64)


@samples("factory_new_strided")
def factory_new_strided(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2), (2, 3), (1, 2))
    yield SampleInput(make(2), (2, 3), (3, 1), dtype=make.torch.float64)


@samples("factory_scalar")
def factory_scalar(make: Make) -> Iterator[SampleInput]:
    for number in (2, 2.5, True, 0):
        yield SampleInput(number, dtype=make.dtype)
        yield SampleInput(number)


@samples("factory_eye")
def factory_eye(make: Make) -> Iterator[SampleInput]:
    for n in (3, 0, 1):
        yield SampleInput(n, dtype=make.dtype)
    yield SampleInput(2)


@samples("factory_eye_m")
def factory_eye_m(make: Make) -> Iterator[SampleInput]:
    for n, m in ((3, 4), (4, 2), (0, 3)):
        yield SampleInput(n, m, dtype=make.dtype)


@error_samples("factory_eye")
def factory_eye_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1), RuntimeError, "-1")


@error_samples("factory_eye_m")
def factory_eye_m_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(2, -1), RuntimeError, "-1")


@samples("empty_permuted")
def empty_permuted(make: Make) -> Iterator[SampleInput]:
    yield SampleInput((2, 3, 4), (2, 0, 1), dtype=make.dtype)
    yield SampleInput((2, 3), (0, 1))
    yield SampleInput((), ())


@error_samples("empty_permuted")
def empty_permuted_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput((2, 3), (0,)), RuntimeError, "2.*1")
    yield ErrorInput(SampleInput((2, 3), (0, 0)), RuntimeError, "Duplicate")
    yield ErrorInput(SampleInput((2, 3), (0, 2)), RuntimeError, "2")
