"""Samples of products of vectors."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("dot")
def dot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4), make(4))
    yield SampleInput(make(0), make(0))
    yield SampleInput(make(5, layout="strided"), make(5))
    if not make.requires_grad:
        yield SampleInput(make(131), make(131))


@error_samples("dot")
def dot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(4)), RuntimeError, "3.*4|size")
    yield ErrorInput(SampleInput(make(2, 2), make(2)), RuntimeError, "1D|1-?D|dim")
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "dtype|float|Double")


@samples("outer")
def outer(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2), make(3))
    yield SampleInput(make(0), make(3))
    yield SampleInput(make(3, layout="strided"), make(2, layout="strided"))


@error_samples("outer")
def outer_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make(3)), RuntimeError, "1-?D|2")


@samples("inner")
def inner(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3), make(3))
    yield SampleInput(make(2, 3), make(3))
    yield SampleInput(make(2, 3), make(2, 2, 3))
    yield SampleInput(make(), make(2, 2))


@error_samples("inner")
def inner_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(2, 2)), RuntimeError, "last dimension must match")


@samples("addr")
def addr(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2), make(3))
    if not make.is_bool:
        yield SampleInput(make(3), make(2), make(3), beta=2, alpha=3)
    yield SampleInput(make(), make(2), make(2, layout="strided"), beta=0)
    yield SampleInput(make(0, 2), make(0), make(2))


@error_samples("addr")
def addr_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make(2, 2), make(2)), RuntimeError, "1-D")
    yield ErrorInput(SampleInput(make(3, 3), make(2), make(2)), RuntimeError, "expand|size")
    yield ErrorInput(SampleInput(make(2, 2), make(2), make(2), beta=True), RuntimeError, "Boolean beta")


@samples("vdot")
def vdot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(4), make(4))
    yield SampleInput(make(0), make(0))
    yield SampleInput(make(5, layout="strided"), make(5))


@error_samples("vdot")
def vdot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make(4)), RuntimeError, "3|size")
    yield ErrorInput(SampleInput(make(2, 2), make(2)), RuntimeError, "1D")


@samples("linalg_cross")
def linalg_cross(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(3, 2), make(3, 2), dim=0)
    yield SampleInput(make(1, 3), make(2, 3, layout="transposed"))
    yield SampleInput(make(0, 3), make(0, 3))


@error_samples("linalg_cross")
def linalg_cross_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make(3)), RuntimeError, "same number of dimensions")
    yield ErrorInput(SampleInput(make(3, 2), make(3, 2)), RuntimeError, "must have length 3. Got 2 and 2")


@samples("cross")
def cross(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(3, 3), make(3, 3))
    yield SampleInput(make(3, 2), make(3, 2), 0)
    yield SampleInput(make(3), make(3), dim=-1)


@error_samples("cross")
def cross_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), make(2, 2)), RuntimeError, "no dimension of size 3")


@samples("vecdot")
def vecdot(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), make(2, 3))
    yield SampleInput(make(2, 3), make(3))
    yield SampleInput(make(2, 3), make(2, 1), dim=0)
    yield SampleInput(make(2, 0), make(2, 0))


@error_samples("vecdot")
def vecdot_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "same dtype")
    yield ErrorInput(SampleInput(make(2), make(3)), RuntimeError, "2|3")
