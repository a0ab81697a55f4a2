"""Samples of complex numbers made from parts."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("complex_parts")
def complex_parts(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64"):
        return
    for shape in ((2, 3), (), (0,), (71,)):
        yield SampleInput(make(*shape), make(*shape))
    yield SampleInput(make(2, 1), make(3))
    yield SampleInput(make(5, 4, layout="transposed"), make(5, 4, layout="strided"))


@error_samples("complex_parts")
def complex_parts_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), make(2, dtype="float64")), RuntimeError, "Float.*Double")
    yield ErrorInput(
        SampleInput(make(2, dtype="int64"), make(2, dtype="int64")),
        RuntimeError,
        "Half, Float or Double.*Long",
    )
    yield ErrorInput(SampleInput(make(2), make(3)), RuntimeError, "2.*3|3.*2")


@samples("view_as_complex")
def view_as_complex(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex:
        yield SampleInput(make(2))
        yield SampleInput(make(3, 4, 2))
        yield SampleInput(make(0, 2))


@error_samples("view_as_complex")
def view_as_complex_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3)), RuntimeError, "last dimension of size 2")
    yield ErrorInput(SampleInput(make()), RuntimeError, "one or more dimensions")
