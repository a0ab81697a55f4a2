"""Tensors of numbers that follow a rule."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _takes_sequences(make: Make) -> bool:
    return not make.is_bool and not make.is_complex


@samples("range")
def range_(make: Make) -> Iterator[SampleInput]:
    for start, end in ((1, 4), (0.5, 3), (2, 2), (-2.5, 1)):
        yield SampleInput(start, end)
    if _takes_sequences(make):
        yield SampleInput(1, 4, dtype=make.dtype)


@samples("range_step")
def range_step(make: Make) -> Iterator[SampleInput]:
    for start, end, step in ((1, 8, 3), (5, 0, -2), (0, 1, 0.25), (2, 2, 1), (1, 2, 0.3)):
        yield SampleInput(start, end, step)
    if _takes_sequences(make):
        yield SampleInput(1, 8, 2, dtype=make.dtype)


@error_samples("range_step")
def range_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, 1, 0), RuntimeError, "step")
    yield ErrorInput(SampleInput(0, 1, -1), RuntimeError, "step|bound")
    yield ErrorInput(SampleInput(0, float("inf"), 1), RuntimeError, "inf")


_BOUNDS = ((0, 1, 5), (3.0, -3.0, 4), (2, 7, 1), (0, 1, 0))


def _bounds(make: Make, start_is_tensor: bool, end_is_tensor: bool) -> Iterator[SampleInput]:
    for start, end, steps in _BOUNDS:
        first = make.tensor(start, "float32") if start_is_tensor else start
        last = make.tensor(end, "int64") if end_is_tensor else end
        yield SampleInput(first, last, steps)
        yield SampleInput(first, last, steps, dtype=make.torch.float64)


def _bound_errors(make: Make, first: bool) -> Iterator[ErrorInput]:
    vector = make.tensor([0.0], "float32")
    yield ErrorInput(
        SampleInput(vector if first else 0, 1 if first else vector, 3), RuntimeError, "0-dim.*1 dim"
    )


@samples("linspace_tensor_tensor")
def linspace_tensor_tensor(make: Make) -> Iterator[SampleInput]:
    yield from _bounds(make, True, True)


@samples("linspace_tensor_scalar")
def linspace_tensor_scalar(make: Make) -> Iterator[SampleInput]:
    yield from _bounds(make, True, False)


@samples("linspace_scalar_tensor")
def linspace_scalar_tensor(make: Make) -> Iterator[SampleInput]:
    yield from _bounds(make, False, True)


@samples("logspace_tensor_tensor")
def logspace_tensor_tensor(make: Make) -> Iterator[SampleInput]:
    yield from _bounds(make, True, True)


@samples("logspace_tensor_scalar")
def logspace_tensor_scalar(make: Make) -> Iterator[SampleInput]:
    yield from _bounds(make, True, False)


@samples("logspace_scalar_tensor")
def logspace_scalar_tensor(make: Make) -> Iterator[SampleInput]:
    yield from _bounds(make, False, True)


@error_samples("linspace_tensor_scalar", "logspace_tensor_scalar")
def first_bound_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _bound_errors(make, True)


@error_samples("linspace_scalar_tensor", "logspace_scalar_tensor")
def last_bound_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _bound_errors(make, False)


@samples("logspace")
def logspace(make: Make) -> Iterator[SampleInput]:
    for start, end, steps in _BOUNDS:
        yield SampleInput(start, end, steps, dtype=make.torch.float64)
    yield SampleInput(0, 3, 4)
    yield SampleInput(0, 3, 4, 2.0)
    yield SampleInput(-1.5, 2, 5, base=0.5)
    yield SampleInput(0, 3, 4, dtype=make.torch.int64)
    if make.is_inexact:
        yield SampleInput(0, 1, 3, dtype=make.dtype)


@error_samples("logspace")
def logspace_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(0, 1, -1), RuntimeError, "steps")


@samples("triangle_indices")
def triangle_indices(make: Make) -> Iterator[SampleInput]:
    for rows, columns in ((3, 3), (2, 4), (4, 2), (0, 3), (3, 0)):
        for offset in (0, 1, -1, 5, -5):
            yield SampleInput(rows, columns, offset)
    yield SampleInput(2, 2, dtype=make.torch.int32)


@error_samples("triangle_indices")
def triangle_indices_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1, 3), RuntimeError, "row.*-1")
    yield ErrorInput(SampleInput(3, -1), RuntimeError, "col.*-1")
    yield ErrorInput(SampleInput(3, 3, dtype=make.torch.float32), NotImplementedError, "Float|float")


@samples("vandermonde")
def vandermonde(make: Make) -> Iterator[SampleInput]:
    for n in (None, 2, 5) if make.requires_grad else (None, 0, 1, 2, 5):  # the first column is constant
        yield SampleInput(make(3), n)
    yield SampleInput(make(3), increasing=True)
    yield SampleInput(make(4, layout="strided"), 3, True)
    yield SampleInput(make(0), 2)


@error_samples("vandermonde")
def vandermonde_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2)), RuntimeError, "one-dim")
    yield ErrorInput(SampleInput(make(2), -1), RuntimeError, "N")


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


@samples("from_file")
def from_file(make: Make) -> Iterator[SampleInput]:
    path = Path(tempfile.gettempdir()) / "torch_py_sample.bin"
    path.write_bytes(bytes(range(48)))
    yield SampleInput(str(path), size=3, dtype=make.torch.int32)
    yield SampleInput(str(path), False, 48, dtype=make.torch.uint8)
    yield SampleInput(str(path))


@error_samples("from_file")
def from_file_errors(make: Make) -> Iterator[ErrorInput]:
    path = Path(tempfile.gettempdir()) / "torch_py_sample.bin"
    path.write_bytes(bytes(48))
    yield ErrorInput(SampleInput(str(path), size=49, dtype=make.torch.uint8), RuntimeError, "48.*49")
    yield ErrorInput(SampleInput(str(path) + ".missing", size=1), RuntimeError, "missing")
