"""In-place draws, shapes and generators, for several topics of random numbers.

Tests compare shapes and dtypes here; tests/torch_py checks distributions and reproducibility."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("random_inplace")
def random_inplace(make: Make) -> Iterator[SampleInput]:
    """Samples with various arguments, of which an operator takes those it has."""
    for tensor in (make(3, 4), make(), *make.layouts(3, 4)):
        if 0 not in tensor.stride() or tensor.numel() < 2:
            yield SampleInput(tensor)
    if make.is_floating:
        yield SampleInput(make(0))
    yield SampleInput(make(5), to=2 if make.dtype == make.torch.bool else 4)
    yield SampleInput(make(5), *((0, 2) if make.dtype == make.torch.bool else (2, 7)))
    yield SampleInput(make(5), mean=1.0, std=2.0)
    yield SampleInput(make(5), p=0.3)
    yield SampleInput(make(5), lambd=0.5)


@error_samples("random_inplace")
def random_inplace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), mean=0.0, std=-1.0), RuntimeError, "std.*-1")
    yield ErrorInput(SampleInput(make(3), p=1.5), RuntimeError, "p.*1.5")
    yield ErrorInput(SampleInput(make(3), lambd=-1.0), RuntimeError, "lambd")
    yield ErrorInput(SampleInput(make(3), to=-1), RuntimeError, "-1")


@samples("random_size")
def random_size(make: Make) -> Iterator[SampleInput]:
    for shape in ((2, 3), (), (0,), (70,)):
        yield SampleInput(shape)
    if make.is_inexact:
        yield SampleInput((2, 3), dtype=make.dtype)


@samples("random_like")
def random_like(make: Make) -> Iterator[SampleInput]:
    if make.is_inexact:
        for tensor in (make(3, 4), make(), make(0), *make.layouts(3, 4)):
            yield SampleInput(tensor)
    yield SampleInput(make(2, 3), dtype=make.torch.float64)


@samples("random_like_generator")
def random_like_generator(make: Make) -> Iterator[SampleInput]:
    for sample in random_like(make):
        yield SampleInput(*sample.positional, generator=make.generator(), **sample.kwargs)
