"""Samples of reads and writes by index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("index")
def index(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), [make.integers(5, high=3)])
    yield SampleInput(make(3, 4), [None, make.integers(2, 2, high=4)])
    yield SampleInput(make(3, 4), [make.integers(2, 1, high=3), make.integers(3, high=4)])
    yield SampleInput(make(2, 3, 4), [make.integers(2, high=2), None, make.integers(2, high=4)])
    yield SampleInput(make(2, 3, 4), [None, make.integers(2, low=-3, high=3)])
    yield SampleInput(make(3, 4), [make.booleans(3, 4)])
    yield SampleInput(make(3, 4), [make.booleans(3)])
    yield SampleInput(make(3, 4), [None, make.booleans(4)])
    yield SampleInput(make(4, 3, layout="transposed"), [make.integers(high=4)])
    yield SampleInput(make(3, 4), [make.integers(0, high=3)])

    if not make.requires_grad:
        yield SampleInput(make(3, 4), [make.integers(2, high=3, dtype="int32")])
        yield SampleInput(make(50, 9, layout="strided"), [make.integers(70, high=50)])


@error_samples("index")
def index_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), [make.values([3], "int64")]), IndexError, "3")
    yield ErrorInput(SampleInput(make(3), [make.values([-4], "int64")]), IndexError, "-4")
    yield ErrorInput(SampleInput(make(3), [make.values([0], "int64")] * 2), IndexError, "too many")
    yield ErrorInput(SampleInput(make(3), [make.values([True, False], "bool")]), IndexError, "mask")
    yield ErrorInput(SampleInput(make(3), [make.values([0.5])]), IndexError, "long|int")
    yield ErrorInput(
        SampleInput(make(3, 3), [make.integers(2, high=3), make.integers(3, high=3)]),
        IndexError,
        r"\[2\].*\[3\]",
    )


@samples("index_put")
def index_put(make: Make) -> Iterator[SampleInput]:
    order = make.values([2, 0], "int64")
    yield SampleInput(make(3, 4), [order], make(2, 4))
    yield SampleInput(make(3, 4), [order], make())
    yield SampleInput(make(3, 4), [order, make.values([1, 3], "int64")], make(2))
    yield SampleInput(make(3, 4), [None, order], make(3, 2))
    yield SampleInput(make(3, 4), [make.values([0, 2, 0, 0], "int64")], make(4, 4), True)
    yield SampleInput(make(3), [make.values([True, False, True], "bool")], make(2))
    yield SampleInput(make(3, 4, layout="transposed"), [order], make(1, 4))
    yield SampleInput(make(3), [make.values([True, False, True], "bool")], make())


@error_samples("index_put")
def index_put_errors(make: Make) -> Iterator[ErrorInput]:
    order = make.values([2, 0], "int64")
    yield ErrorInput(SampleInput(make(3, 4), [order], make(3, 4)), RuntimeError, r"\[3, 4\]")
    yield ErrorInput(SampleInput(make(2, 4), [order], make(4)), IndexError, "2")
    yield ErrorInput(
        SampleInput(make(3, 4), [order], make(4, dtype="int64")), RuntimeError, "Float|float|dtype"
    )


@samples("index_select")
def index_select(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, 0, make.integers(5, high=3))
        yield SampleInput(tensor, -1, make.integers(2, high=4))
    yield SampleInput(make(3), 0, make.integers(high=3))
    yield SampleInput(make(3, 4), 1, make.integers(0, high=4))
    yield SampleInput(make(), 0, make.integers(1, high=1))
    yield SampleInput(make(3, 2), 0, make.integers(2, high=3, dtype="int32"))


@error_samples("index_select")
def index_select_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.values([3], "int64")), IndexError, "3|range")
    yield ErrorInput(SampleInput(make(3), 0, make.values([-1], "int64")), IndexError, "-1|range")
    yield ErrorInput(SampleInput(make(3), 1, make.values([0], "int64")), IndexError, "1")
    yield ErrorInput(SampleInput(make(3), 0, make.values([0.0])), RuntimeError, "index")
    yield ErrorInput(SampleInput(make(3), 0, make.integers(1, 1, high=2)), IndexError, "vector|dim")


@samples("index_add")
def index_add(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 0, make.integers(5, high=3), make(5, 4))
    yield SampleInput(make(3, 4), -1, make.integers(2, high=4), make(3, 2))
    yield SampleInput(make(3, 4, layout="transposed"), 0, make.integers(2, high=3), make(2, 4), alpha=2)
    yield SampleInput(make(3), 0, make.integers(0, high=3), make(0))
    yield SampleInput(make(), 0, make.integers(1, high=1), make())


@error_samples("index_add")
def index_add_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _source_errors(make)
    yield ErrorInput(SampleInput(make(3), 0, make.values([3], "int64"), make(1)), IndexError, "range|3")


def _source_errors(make: Make) -> Iterator[ErrorInput]:
    two = make.integers(2, high=3)
    yield ErrorInput(
        SampleInput(make(3), 0, two, make(2, dtype="float64")), RuntimeError, "dtype|same|Double|float64"
    )
    yield ErrorInput(SampleInput(make(3), 1, two, make(2)), IndexError, "1")


@samples("index_copy")
def index_copy(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 0, make.values([2, 0], "int64"), make(2, 4))
    yield SampleInput(make(3, 4), -1, make.values([1, 3, 0], "int64"), make(3, 3))
    yield SampleInput(make(3, 4, layout="transposed"), 0, make.values([1], "int64"), make(1, 4))
    yield SampleInput(make(), 0, make.values([0], "int64"), make())


@error_samples("index_copy")
def index_copy_errors(make: Make) -> Iterator[ErrorInput]:
    yield from _source_errors(make)
    yield ErrorInput(SampleInput(make(3), 0, make.integers(2, high=3), make(3)), IndexError, "2.*3|3.*2")
    yield ErrorInput(
        SampleInput(make(3), 0, make.values([3], "int64"), make(1)), IndexError, "3|range|bounds"
    )


@samples("index_fill")
def index_fill(make: Make) -> Iterator[SampleInput]:
    value = 1 if make.is_bool or make.is_integral else -0.5
    yield SampleInput(make(3, 4), 0, make.integers(2, high=3), value)
    yield SampleInput(make(3, 4), -1, make.integers(5, high=4), 0)
    yield SampleInput(make(3, 4, layout="transposed"), 1, make.integers(2, high=4), value)
    yield SampleInput(make(), 0, make.integers(1, high=1), value)
    yield SampleInput(make(3), 0, make.integers(0, high=3), value)


@error_samples("index_fill")
def index_fill_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.values([3], "int64"), 0), IndexError, "3|range|bounds")
    yield ErrorInput(SampleInput(make(3), 1, make.values([0], "int64"), 0), IndexError, "1")
    yield ErrorInput(SampleInput(make(3), 0, make.values([0.0]), 0), IndexError, "index|long|int64")


@samples("gather")
def gather(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), *make.layouts(3, 4)):
        yield SampleInput(tensor, 0, make.integers(2, 4, high=3))
        yield SampleInput(tensor, -1, make.integers(3, 6, high=4))
    yield SampleInput(make(3, 4), 1, make.integers(2, 2, high=4))
    yield SampleInput(make(), 0, make.integers(high=1))
    yield SampleInput(make(3, 4), 0, make.integers(0, 4, high=3))
    yield SampleInput(make(5), 0, make.integers(0, high=1, dtype="uint8"))


@error_samples("gather")
def gather_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.values([3], "int64")), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(2, 3), 0, make.integers(1, high=2)), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(2, 3), 0, make.integers(1, 4, high=2)), RuntimeError, "4")
    yield ErrorInput(SampleInput(make(3), 1, make.values([0], "int64")), IndexError, "1")
    yield ErrorInput(SampleInput(make(3), 0, make.values([0.0])), RuntimeError, "index")
    yield ErrorInput(SampleInput(make(3), 0, make.values([0], "uint8")), RuntimeError, "int64 for index")


@samples("scatter")
def scatter(make: Make) -> Iterator[SampleInput]:
    """Samples with unique indices along the dimension, so that the order of writes does not matter."""
    rows = make.values([[0, 1, 2, 0], [2, 0, 1, 1]], "int64")
    yield SampleInput(make(3, 4), 0, rows, make(2, 4))
    yield SampleInput(make(3, 4, layout="transposed"), 0, rows, make(2, 4))
    if not make.requires_grad:  # PyTorch has no gradient for a source that is larger than the index
        yield SampleInput(make(3, 4), 0, rows, make(3, 5))
        yield SampleInput(make(3), 0, make.integers(0, high=3), make(3))
    yield SampleInput(make(2, 5), -1, make.values([[3, 0], [1, 4]], "int64"), make(2, 2))
    yield SampleInput(make(), 0, make.integers(high=1), make())
    yield SampleInput(make(3), 0, make.integers(0, high=3), make(0))
    if not make.requires_grad:
        yield SampleInput(make(3), 0, make.integers(0, high=3, dtype="int16"), make(0))


@error_samples("scatter")
def scatter_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.values([3], "int64"), make(1)), RuntimeError, "3")
    yield ErrorInput(
        SampleInput(make(3), 0, make.values([0], "int64"), make(1, dtype="float64")), RuntimeError, "dtype"
    )
    yield ErrorInput(SampleInput(make(3), 0, make.values([0, 1], "int64"), make(1)), RuntimeError, "2|1")
    yield ErrorInput(SampleInput(make(3), 1, make.values([0], "int64"), make(1)), IndexError, "1")


@samples("scatter_value")
def scatter_value(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), 0, make.integers(2, 4, high=3), 1)
    yield SampleInput(make(3, 4, layout="strided"), -1, make.integers(3, 2, high=4), 0)
    yield SampleInput(make(), 0, make.integers(high=1), 1)
    if make.is_inexact:
        yield SampleInput(make(3), 0, make.integers(2, high=3), -1.5)


@error_samples("scatter_value")
def scatter_value_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0, make.values([3], "int64"), 1), RuntimeError, "3")
    yield ErrorInput(SampleInput(make(3), 1, make.values([0], "int64"), 1), IndexError, "1")


@samples("take")
def take(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make.integers(2, 2, high=12))
    yield SampleInput(make(3, 4, layout="transposed"), make.integers(5, low=-12, high=12))
    yield SampleInput(make(3), make.integers(high=3))
    yield SampleInput(make(3), make.integers(0, high=3))


@error_samples("take")
def take_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), make.values([3], "int64")), IndexError, "3|range")


@samples("take_along_dim")
def take_along_dim(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4), make.integers(1, 4, high=3), 0)
    yield SampleInput(make(3, 4), make.integers(3, 2, high=4), 1)
    yield SampleInput(make(3, 4), make.integers(5, high=12))
    yield SampleInput(make(3, 4), make.integers(3, 2, low=-4, high=4), 1)
    yield SampleInput(make(3, 4), make.integers(2, 4, low=-7, high=9), 0)


@error_samples("take_along_dim")
def take_along_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), make.integers(3, high=2), 0), RuntimeError, "dim")
    yield ErrorInput(SampleInput(make(3), make.values([0.0]), 0), RuntimeError, "dtype|int64|long")


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


def _masked_places(make: Make) -> Iterator[tuple[Any, Any, list[Any]]]:
    """Tensors, masks and indices of shape (4,), of which those outside are masked."""
    places = make.tensor([1, 9, -2, -8], "int64")
    mask = make.tensor([True, False, True, False], "bool")
    yield make(5), mask, [places]
    yield make(3, 5), mask, [make.tensor([0, 2, 1, 7], "int64"), places]


@samples("_unsafe_masked_index")
def _unsafe_masked_index(make: Make) -> Iterator[SampleInput]:
    for own, mask, places in _masked_places(make):
        yield SampleInput(own, mask, places, 1)
    if not make.requires_grad:
        yield SampleInput(make(0), make.tensor([False], "bool"), [make.tensor([3], "int64")], 1)


@samples("_unsafe_masked_index_put_accumulate")
def _unsafe_masked_index_put_accumulate(make: Make) -> Iterator[SampleInput]:
    if make.is_bool:
        return
    for own, mask, places in _masked_places(make):
        yield SampleInput(own, mask, places, make(4))
