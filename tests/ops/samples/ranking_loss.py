"""Samples of losses of distances, margins and counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.loss import REDUCTIONS
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


def _signs(make: Make, *shape: int) -> Any:
    count = 1
    for size in shape:
        count *= size
    return make.values([(1, -1)[i % 2] for i in range(count)]).detach().reshape(shape)


@samples("margin_ranking_loss")
def margin_ranking_loss(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    for reduction in REDUCTIONS:
        yield SampleInput(make(5, distinct=True), make(5, low=3.0, high=5.0), _signs(make, 5), 0.1, reduction)
    yield SampleInput(make(0), make(0), _signs(make, 0), 0.1, 0)


@samples("hinge_embedding_loss")
def hinge_embedding_loss(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        for reduction in REDUCTIONS:
            yield SampleInput(make(2, 3, away_from=(1.0,)), _signs(make, 2, 3), 1.0, reduction)


@samples("cosine_embedding_loss")
def cosine_embedding_loss(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        for reduction in REDUCTIONS:
            yield SampleInput(
                make(4, 3, low=0.5, high=2.0), make(4, 3, low=0.5, high=2.0), _signs(make, 4), 0.1, reduction
            )
        yield SampleInput(
            make(3, low=0.5, high=2.0), make(3, low=0.5, high=2.0), _signs(make, 1).reshape(()), 0.0, 1
        )


@error_samples("cosine_embedding_loss")
def cosine_embedding_loss_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 3), make(4, 3), make(4, 1)), RuntimeError, "multi-target")
    yield ErrorInput(SampleInput(make(4), make(4), make(4)), RuntimeError, "2D")


@samples("triplet_margin_loss")
def triplet_margin_loss(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        for reduction in REDUCTIONS:
            yield SampleInput(
                make(4, 3), make(4, 3, low=2.5, high=4.0), make(4, 3), 1.0, 2.0, 1e-6, False, reduction
            )
        yield SampleInput(make(4, 3), make(4, 3, low=2.5, high=4.0), make(4, 3), 2.0, 3.0, 1e-6, True, 1)


@error_samples("triplet_margin_loss")
def triplet_margin_loss_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 3), make(3), make(4, 3)), RuntimeError, "dimensions")


@samples("poisson_nll_loss")
def poisson_nll_loss(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        for reduction in REDUCTIONS:
            yield SampleInput(make(2, 3), make(2, 3, low=1.5, high=5.0), True, False, 1e-8, reduction)
        yield SampleInput(make(2, 3, low=0.5), make(2, 3, low=1.5, high=5.0), False, True, 1e-8, 1)


@samples("soft_margin_loss")
def soft_margin_loss(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        for reduction in REDUCTIONS:
            yield SampleInput(make(2, 3), _signs(make, 2, 3), reduction)
        yield SampleInput(make(), _signs(make, 1).reshape(()), 1)


@samples("multi_margin_loss")
def multi_margin_loss(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    for reduction in REDUCTIONS:
        yield SampleInput(
            make(3, 4, distinct=True, low=-2.1), make.integers(3, high=4), 1, 0.5, None, reduction
        )
    weight = make(4, low=0.5, high=2.0, requires_grad=False)
    yield SampleInput(make(3, 4, distinct=True, low=-2.1), make.integers(3, high=4), 2, 1, weight, 1)
    yield SampleInput(make(4, distinct=True, low=-2.1), make.integers(high=4), 1, 1, None, 0)


@error_samples("multi_margin_loss")
def multi_margin_loss_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), make.integers(3, high=4), 3, 1, None, 1), RuntimeError, "p")
    yield ErrorInput(SampleInput(make(3, 4), make.integers(2, high=4), 1, 1, None, 1), RuntimeError, "target")


@samples("multilabel_margin_loss")
def multilabel_margin_loss(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    labels = make.values([[3, 0, -1, 1], [-1, 2, 2, 2], [0, 1, 2, 3]], "int64")
    for reduction in REDUCTIONS:
        yield SampleInput(make(3, 4, distinct=True, low=-2.1), labels, reduction)
    yield SampleInput(make(4, distinct=True, low=-2.1), labels[0], 1)


@error_samples("multilabel_margin_loss")
def multilabel_margin_loss_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), make.integers(3, 2, high=4), 1), RuntimeError, "size")
    yield ErrorInput(SampleInput(make(2), make.values([0, 5], "int64"), 1), RuntimeError, "range")
