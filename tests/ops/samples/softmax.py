"""Samples of softmax and log_softmax."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("softmax")
def softmax(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(5), *make.layouts(3, 4)):
        yield SampleInput(tensor, 0)
        yield SampleInput(tensor, -1)

    yield SampleInput(make(2, 3, 2), 1)
    yield SampleInput(make(), 0)
    yield SampleInput(make(0, 3), 1)
    yield SampleInput(make(2, 3), 1, make.torch.float64)

    if not make.requires_grad:
        yield SampleInput(make(3, 131), 1)
        yield SampleInput(make(3, 131, low=-100.0, high=100.0), 0)
        if make.is_floating:
            infinite = float("inf")
            yield SampleInput(make.values([[0.0, -infinite, 1.0], [-infinite] * 3, [infinite, 0.0, 1.0]]), 1)


@error_samples("softmax")
def softmax_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 2), IndexError, "2")
    yield ErrorInput(SampleInput(make(2, 3, dtype="int64"), 1), NotImplementedError, "softmax.*Long")


@samples("softmax_kernel")
def softmax_kernel(make: Make) -> Iterator[SampleInput]:
    for tensor in (make(3, 4), make(5), make(2, 3, 2), make(), make(0, 3), *make.layouts(3, 4)):
        yield SampleInput(tensor, 0, False)
        yield SampleInput(tensor, -1, False)


@samples("_softmax_backward_data")
def _softmax_backward_data(make: Make) -> Iterator[SampleInput]:
    for sizes, dim in (((3, 4), 0), ((3, 4), -1), ((2, 3, 2), 1), ((), 0), ((0, 3), 1)):
        yield SampleInput(
            make(*sizes), make(*sizes, low=0.1, high=0.9), dim, getattr(make.torch, make.dtype_name)
        )
    yield SampleInput(
        make(3, 4, layout="transposed"), make(3, 4, layout="strided"), 1, getattr(make.torch, make.dtype_name)
    )


@error_samples("_softmax_backward_data")
def _softmax_backward_data_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 3), make(2, 3), 2, getattr(make.torch, make.dtype_name)), IndexError, "2"
    )
    yield ErrorInput(
        SampleInput(make(2, 3), make(3), 0, getattr(make.torch, make.dtype_name)), RuntimeError, "3"
    )
    wide = make(2, dtype="float64")
    yield ErrorInput(
        SampleInput(make(2), wide, 0, getattr(make.torch, make.dtype_name)), RuntimeError, "[Dd]ouble"
    )
