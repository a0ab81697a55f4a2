"""Samples of random integers and permutations.

Tests compare shapes and dtypes here; tests/torch_py checks distributions and reproducibility."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("randint")
def randint(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(5, (2, 3))
    yield SampleInput(1, ())
    if not make.is_bool:
        yield SampleInput(5, (0,), dtype=make.dtype)


@error_samples("randint")
def randint_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, (2,)), RuntimeError, "0")


@samples("randint_low")
def randint_low(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(-3, 5, (2, 3))
    yield SampleInput(2, 3, (70,))


@error_samples("randint_low")
def randint_low_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(3, 3, (2,)), RuntimeError, "3")


@samples("randperm")
def randperm(make: Make) -> Iterator[SampleInput]:
    for n in (0, 1, 9):
        yield SampleInput(n)
    yield SampleInput(5, dtype=make.torch.int32)


@error_samples("randperm")
def randperm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1), RuntimeError, "-1|non-negative")


@samples("randint_like")
def randint_like(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex and not make.requires_grad:
        yield SampleInput(make(2, 3), 2)
        yield SampleInput(make(2, 3, layout="transposed"), 1)
        yield SampleInput(make(2, 3), 5, dtype=make.torch.int64)


@error_samples("randint_like")
def randint_like_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 0), RuntimeError, "0")


@samples("randint_like_low")
def randint_like_low(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex and not make.requires_grad:
        yield SampleInput(make(2, 3), 0, 2)
        yield SampleInput(make(2, 3), -5, 5, dtype=make.torch.int64)


@error_samples("randint_like_low")
def randint_like_low_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 5, 5), RuntimeError, "5")


@samples("randint_like_tensor")
def randint_like_tensor(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex and not make.requires_grad:
        yield SampleInput(make(2, 3), make.tensor(2, "int64"))
        yield SampleInput(make(2, 3, layout="transposed"), make.tensor(1, "int32"), dtype=make.torch.int64)


@error_samples("randint_like_tensor")
def randint_like_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make.tensor([2], "int64")), RuntimeError, "scalar tensor")
    yield ErrorInput(SampleInput(make(2), make.tensor(0, "int64")), RuntimeError, "0")


@samples("randint_like_generator")
def randint_like_generator(make: Make) -> Iterator[SampleInput]:
    for sample in randint_like(make):
        yield SampleInput(*sample.positional, generator=make.generator(), **sample.kwargs)


@samples("randint_like_low_generator")
def randint_like_low_generator(make: Make) -> Iterator[SampleInput]:
    for sample in randint_like_low(make):
        yield SampleInput(*sample.positional, generator=make.generator(), **sample.kwargs)


@samples("randint_like_tensor_generator")
def randint_like_tensor_generator(make: Make) -> Iterator[SampleInput]:
    for sample in randint_like_tensor(make):
        yield SampleInput(*sample.positional, generator=make.generator(), **sample.kwargs)
