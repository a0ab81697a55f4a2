"""Samples of diff and gradient."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.reductions import tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("diff")
def diff(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 1, 0)
        yield SampleInput(tensor, 2)
    yield SampleInput(make(5), 0)
    yield SampleInput(make(3, 2), 0, 0, make(1, 2), make(2, 2))
    yield SampleInput(make(3, 2), 3, 0, make(2, 2))
    yield SampleInput(make(5), 7)
    yield SampleInput(make(0, 3))
    yield SampleInput(make(2, 3), 1, -1, make(2, 1), make(2, 2))
    yield SampleInput(make(2, 3), n=2, dim=0, prepend=make(1, 3))
    yield SampleInput(make(2, 3), append=make(2, 4))


@error_samples("diff")
def diff_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make()), RuntimeError, "one-dimensional")
    yield ErrorInput(SampleInput(make(3), -1), RuntimeError, "-1")
    yield ErrorInput(SampleInput(make(3), 1, 1), IndexError, "1")
    yield ErrorInput(SampleInput(make(3), prepend=make()), RuntimeError, "same dimension")
    yield ErrorInput(SampleInput(make(2, 3), append=make(3, 1)), RuntimeError, r"size\(0\) = 2.*3")


def _functions(make: Make) -> Iterator[object]:
    """Samples of functions of two variables, four points each way."""
    if make.is_bool or make.dtype_name == "uint8":
        return
    yield make(4, 5)
    yield make(3, 3, layout="transposed")
    if not make.requires_grad:
        yield make(4, 6, layout="strided")


@samples("gradient_scalarint")
def gradient_scalarint(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(tensor)
        yield SampleInput(tensor, spacing=2)
        yield SampleInput(tensor, spacing=0.5, dim=0)
        yield SampleInput(tensor, dim=-1, edge_order=2)
    if not make.is_bool and make.dtype_name != "uint8":
        yield SampleInput(make(2))


@error_samples("gradient_scalarint")
def gradient_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1)), RuntimeError, "edge_order")
    yield ErrorInput(SampleInput(make(2), edge_order=2), RuntimeError, "edge_order")
    yield ErrorInput(SampleInput(make(4), edge_order=3), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(4), dim=1), IndexError, "1")
    yield ErrorInput(SampleInput(make(4, dtype="uint8")), RuntimeError, "uint8")


@samples("gradient_scalararray")
def gradient_scalararray(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(tensor, spacing=2, dim=(1, 0))
        yield SampleInput(tensor, spacing=0.5, dim=(0,), edge_order=2)


@samples("gradient_array")
def gradient_array(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(tensor, dim=(1, 0))
        yield SampleInput(tensor, dim=(0,), edge_order=2)


@error_samples("gradient_array")
def gradient_array_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 4), dim=(0, 0)), RuntimeError, "dim 0")


@samples("gradient_scalarrayint")
def gradient_scalarrayint(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(tensor, spacing=[2, 0.5])
        yield SampleInput(tensor, spacing=[0.25], dim=1, edge_order=2)


@error_samples("gradient_scalarrayint")
def gradient_scalarrayint_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 4), spacing=[1, 2, 3]), RuntimeError, "length 3")
    yield ErrorInput(SampleInput(make(4, 4), spacing=[1, 2], dim=0), RuntimeError, "length 2")


@samples("gradient_scalarrayarray")
def gradient_scalarrayarray(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(tensor, spacing=[2, 0.5], dim=(0, 1))
        yield SampleInput(tensor, spacing=[0.25], dim=(-1,), edge_order=2)


def _coordinates(make: Make, tensor: object, dim: int) -> object:
    size = tensor.shape[dim]  # type: ignore[attr-defined]
    return make.values([index + index // 2 for index in range(size)])


@samples("gradient_tensorarrayint")
def gradient_tensorarrayint(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(tensor, spacing=[_coordinates(make, tensor, 0), _coordinates(make, tensor, 1)])
        yield SampleInput(tensor, spacing=[_coordinates(make, tensor, 1)], dim=1, edge_order=2)


@error_samples("gradient_tensorarrayint")
def gradient_tensorarrayint_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), spacing=[make(4, 1)]), RuntimeError, "one dimension")
    yield ErrorInput(SampleInput(make(4), spacing=[make(4), make(4)]), RuntimeError, "length 2")


@samples("gradient_tensorarray")
def gradient_tensorarray(make: Make) -> Iterator[SampleInput]:
    for tensor in _functions(make):
        yield SampleInput(
            tensor, spacing=[_coordinates(make, tensor, 1), _coordinates(make, tensor, 0)], dim=(1, 0)
        )
