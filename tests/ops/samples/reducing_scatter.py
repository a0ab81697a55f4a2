"""Writing by index with a reduction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _calls(make: Make) -> Iterator[tuple[Any, int, Any, Any]]:
    """self, dim, index, src."""
    rows = make.integers(4, 3, high=2)
    yield make(2, 3, distinct=True), 0, rows, make(4, 3, distinct=True)
    yield (
        make(2, 3, layout="transposed", distinct=True),
        -1,
        make.integers(2, 4, high=3),
        make(2, 4, distinct=True),
    )
    yield (
        make(3),
        0,
        make.tensor([0, 0, 2, 0], "int64"),
        make.values([1, 0, 2, 3] if not make.is_bool else [1, 0, 1, 1]),
    )
    yield make(3), 0, make.integers(0, high=3), make(0)
    yield make(), 0, make.integers(high=1), make()
    yield make(3, 2, distinct=True), 0, make.integers(2, 1, high=3), make(3, 2, distinct=True)


@samples("scatter_reduce")
def scatter_reduce(make: Make) -> Iterator[SampleInput]:
    for own, dim, index, src in _calls(make):
        for reduce in ("sum", "prod", "mean", "amax", "amin"):
            if make.is_complex and reduce in ("amax", "amin"):
                continue
            larger = tuple(index.shape) != tuple(src.shape)
            if make.requires_grad and larger:
                continue  # PyTorch has no gradient for a source that is larger than the index
            yield SampleInput(own, dim, index, src, reduce)
            if own.dim() == 1 or reduce == "prod":
                yield SampleInput(own, dim, index, src, reduce, include_self=False)


@error_samples("scatter_reduce")
def scatter_reduce_errors(make: Make) -> Iterator[ErrorInput]:
    zero = make.tensor([0], "int64")
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1), "median"), RuntimeError, "median")
    yield ErrorInput(SampleInput(make(3), 0, make.tensor([3], "int64"), make(1), "sum"), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1, dtype="float64"), "sum"), RuntimeError, "dtype")
    yield ErrorInput(SampleInput(make(3), 1, zero, make(1), "sum"), IndexError, "1")
    yield ErrorInput(SampleInput(make(3, 3), 0, zero, make(1), "prod"), RuntimeError, "dim")
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0, 1], "int64"), make(1), "amax"), RuntimeError, r"\[2\]"
    )


@samples("scatter_reducing")
def scatter_reducing(make: Make) -> Iterator[SampleInput]:
    for own, dim, index, src in _calls(make):
        if make.requires_grad and tuple(index.shape) != tuple(src.shape):
            continue
        for reduce in ("add", "multiply"):
            yield SampleInput(own, dim, index, src, reduce=reduce)


@error_samples("scatter_reducing")
def scatter_reducing_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0], "int64"), make(1), reduce="sum"),
        RuntimeError,
        "add or multiply",
    )


@samples("scatter_value_reducing")
def scatter_value_reducing(make: Make) -> Iterator[SampleInput]:
    for own, dim, index, _ in _calls(make):
        for reduce in ("add", "multiply"):
            yield SampleInput(own, dim, index, 2, reduce=reduce)


@error_samples("scatter_value_reducing")
def scatter_value_reducing_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0], "int64"), 1, reduce="sum"), RuntimeError, "add or multiply"
    )


@samples("index_reduce")
def index_reduce(make: Make) -> Iterator[SampleInput]:
    for reduce in ("prod", "mean", "amax", "amin"):
        if make.is_complex and reduce in ("amax", "amin"):
            continue
        yield SampleInput(
            make(3, 4, distinct=True), 0, make.integers(5, high=3), make(5, 4, distinct=True), reduce
        )
        yield SampleInput(
            make(3, 4, layout="transposed"),
            -1,
            make.tensor([1, 3], "int64"),
            make(3, 2),
            reduce,
            include_self=False,
        )
        yield SampleInput(make(3), 0, make.integers(0, high=3), make(0), reduce)
        yield SampleInput(make(), 0, make.tensor([0], "int64"), make(), reduce)


@error_samples("index_reduce")
def index_reduce_errors(make: Make) -> Iterator[ErrorInput]:
    zero = make.tensor([0], "int64")
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1), "sum"), RuntimeError, "sum")
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([3], "int64"), make(1), "prod"), IndexError, "range|3"
    )
    yield ErrorInput(SampleInput(make(3), 0, zero, make(1, dtype="float64"), "prod"), RuntimeError, "type")
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0, 1], "int64"), make(1), "prod"), RuntimeError, "2.*1"
    )
    yield ErrorInput(
        SampleInput(make(3), 0, make.tensor([0.0], "float32"), make(1), "prod"), RuntimeError, "index"
    )


@samples("index_fill_tensor")
def index_fill_tensor(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 0, make.integers(2, high=3), make())
    yield SampleInput(make(3, 4, layout="transposed"), 1, make.integers(2, high=4), make())
    yield SampleInput(make(), 0, make.integers(1, high=1), make())


@error_samples("index_fill_tensor")
def index_fill_tensor_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.tensor([0], "int64"), make(1)), RuntimeError, "0-dim")


@samples("put")
def put(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(3, 4, layout="transposed"), make(3, 4, layout="strided")):
        yield SampleInput(tensor, make.tensor([[3, 0], [-1, 5]], "int64"), make(2, 2))
        yield SampleInput(tensor, make.tensor([3, 0, 3], "int64"), make(3), True)
    yield SampleInput(make(), make.tensor(0, "int64"), make())
    yield SampleInput(make(3), make.tensor([], "int64"), make(0))


@error_samples("put")
def put_errors(make: Make) -> Iterator[ErrorInput]:
    zero = make.tensor([0], "int64")
    yield ErrorInput(SampleInput(make(3), make.tensor([3], "int64"), make(1)), IndexError, "3")
    yield ErrorInput(SampleInput(make(3), zero, make(2)), IndexError, "2.*1")
    yield ErrorInput(SampleInput(make(3), zero, make(1, dtype="float64")), RuntimeError, "dtype")
    yield ErrorInput(SampleInput(make(3), make.tensor([0], "int32"), make(1)), RuntimeError, "long")
    yield ErrorInput(SampleInput(make(0), zero, make(1)), IndexError, "empty")


@samples("nonzero_static")
def nonzero_static(make: Make) -> Iterator[SampleInput]:
    values = make.values([[1, 0, 1], [0, 0, 1]])
    for size in (0, 2, 3, 5):
        yield SampleInput(values, size=size)
    yield SampleInput(values, size=5, fill_value=7)
    yield SampleInput(make.values(1), size=2)


@error_samples("nonzero_static")
def nonzero_static_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), size=-1), RuntimeError, "negative")


@samples("fill_diagonal_")
def fill_diagonal_(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(4, 3, layout="transposed"), make(3, 3, 3), make(0, 3)):
        yield SampleInput(tensor, 1)
    for wrap in (False, True):
        yield SampleInput(make(7, 2), 1, wrap)
        yield SampleInput(make(2, 5), 0, wrap=wrap)


@error_samples("fill_diagonal_")
def fill_diagonal_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 1), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3, 3), 1), RuntimeError, "equal")
