"""Samples of addition and subtraction with a factor."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.binary import binary, mismatched
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("binary_alpha")
def binary_alpha(make: Make) -> Iterator[SampleInput]:
    yield from binary(make)
    yield from _with_alpha(make)
    if make.is_bool:
        yield SampleInput(make(3), make(3), alpha=True)


@samples("binary_alpha_no_bool")
def binary_alpha_no_bool(make: Make) -> Iterator[SampleInput]:
    for sample in binary(make):
        if sample.args[0] is not True and not any(
            tensor.dtype is make.torch.bool for tensor in sample.tensors()
        ):
            yield sample
    yield from _with_alpha(make)


def _with_alpha(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return
    yield SampleInput(make(2, 3), make(3), alpha=2)
    yield SampleInput(make(2, 3), 2, alpha=3)
    if make.is_inexact:
        yield SampleInput(make(2, 3), make(2, 3), alpha=-0.5)
    if make.is_complex:
        yield SampleInput(make(2, 3), make(2, 3), alpha=0.5 - 1.5j)


@error_samples("binary_alpha_no_bool")
def binary_alpha_no_bool_errors(make: Make) -> Iterator[ErrorInput]:
    yield from binary_alpha_errors(make)
    yield ErrorInput(SampleInput(make.booleans(2), make.booleans(2)), RuntimeError, "bool")
    yield ErrorInput(SampleInput(make(2), make.booleans(2)), RuntimeError, "bool")


@error_samples("binary_alpha")
def binary_alpha_errors(make: Make) -> Iterator[ErrorInput]:
    yield from mismatched(make)
    integers = make(2, dtype="int64")
    yield ErrorInput(SampleInput(integers, integers, alpha=0.5), RuntimeError, "alpha")
    yield ErrorInput(SampleInput(make(2), make(2), alpha=1j), RuntimeError, "alpha|complex")
