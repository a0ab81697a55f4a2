"""Samples of ctc_loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.loss import REDUCTIONS
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _log_probs(make: Make, *shape: int) -> Any:
    scores = make(*shape, requires_grad=False).log_softmax(-1)
    return scores.requires_grad_() if make.requires_grad else scores


@samples("ctc_loss_lists")
def ctc_loss_lists(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name not in ("float32", "float64"):
        return
    targets = make.values([[1, 2, 2], [3, 1, 0]], "int64")
    for reduction in REDUCTIONS:
        yield SampleInput(_log_probs(make, 5, 2, 4), targets, (5, 4), (3, 2), 0, reduction)
    yield SampleInput(_log_probs(make, 5, 2, 4), make.values([1, 1, 2], "int64"), (5, 2), (2, 1), 3, 0)
    yield SampleInput(_log_probs(make, 2, 2, 4), targets, (2, 2), (3, 2), 0, 1, True)
    yield SampleInput(_log_probs(make, 3, 2, 4), targets, (3, 3), (1, 0), 0, 0)


@samples("ctc_loss_tensors")
def ctc_loss_tensors(make: Make) -> Iterator[SampleInput]:
    if make.dtype_name in ("float32", "float64"):
        lengths = make.values([5, 4], "int64"), make.values([3, 2], "int64")
        yield SampleInput(
            _log_probs(make, 5, 2, 4), make.values([[1, 2, 2], [3, 1, 0]], "int64"), *lengths, 0, 1
        )
        yield SampleInput(
            _log_probs(make, 5, 4),
            make.values([1, 2], "int64"),
            make.values([5], "int64"),
            make.values([2], "int64"),
            0,
            1,
        )


@error_samples("ctc_loss_lists")
def ctc_loss_lists_errors(make: Make) -> Iterator[ErrorInput]:
    targets = make.values([[1, 2, 2]], "int64")
    yield ErrorInput(SampleInput(make(5, 1, 4), targets, (6,), (3,)), RuntimeError, "input_lengths")
    yield ErrorInput(SampleInput(make(5, 1, 4), targets, (5,), (4,)), RuntimeError, "target_lengths")
    yield ErrorInput(SampleInput(make(5, 1, 4), targets, (5,), (3,), 7), RuntimeError, "blank")
