"""Windows, strides and wrong arguments, for average and maximum pooling."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples

EXTENTS = {1: (6,), 2: (4, 5), 3: (4, 3, 5)}


def pooled(make: Make, rank: int, **options: Any) -> Iterator[SampleInput]:
    """Windows of every kind over ``rank`` dimensions; few of them for second derivatives."""
    sizes = EXTENTS[rank]

    yield SampleInput(make(2, *sizes, **options), 2)
    yield SampleInput(make(1, 2, *sizes, **options), 3, 2, 1)
    if make.requires_grad and rank == 3:
        return

    yield SampleInput(make(2, 2, *sizes, **options), (2, 3, 1)[:rank], (2, 1, 2)[:rank], (1, 1, 0)[:rank])

    if not make.requires_grad:
        yield SampleInput(make(0, 2, *sizes, **options), 2)
        yield SampleInput(make(2, 3, *(2 * size for size in sizes), layout="strided", **options), 3, 2, 1)
        if rank > 1:
            yield SampleInput(
                make(2, 3, *(2 * size for size in sizes), layout="channels_last", **options), 3, 2, 1
            )


@error_samples("max_pool2d", "max_pool2d_with_indices", "avg_pool2d")
def pool_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 4, 4), 5), RuntimeError, "output|size|5|small")
    yield ErrorInput(SampleInput(make(1, 2, 4, 4), 2, 2, 2), RuntimeError, "pad")
    yield ErrorInput(SampleInput(make(1, 2, 4, 4), 2, 0), RuntimeError, "stride")
    yield ErrorInput(SampleInput(make(4, 4), 2), RuntimeError, "3D|4D")
    yield ErrorInput(SampleInput(make(1, 2, 4, 4), (2, 2, 2)), RuntimeError, "two")


@error_samples("max_pool1d", "max_pool1d_with_indices", "avg_pool1d")
def pool1d_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 4), 5), RuntimeError, "output|size|5|small")
    yield ErrorInput(SampleInput(make(1, 2, 4), 2, 2, 2), RuntimeError, "pad")
    yield ErrorInput(SampleInput(make(4), 2), RuntimeError, "2D|3D")


@error_samples("max_pool3d", "max_pool3d_with_indices", "avg_pool3d")
def pool3d_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 4, 4, 4), 5), RuntimeError, "output|size|5|small")
    yield ErrorInput(SampleInput(make(1, 2, 4, 4, 4), 2, 2, 2), RuntimeError, "pad")
    yield ErrorInput(SampleInput(make(4, 4, 4), 2), RuntimeError, "4D|5D")


def adaptive(make: Make, rank: int, **options: Any) -> Iterator[SampleInput]:
    sizes = EXTENTS[rank]

    yield SampleInput(make(2, *sizes, **options), (2, 3, 2)[:rank])
    yield SampleInput(make(1, 2, *sizes, **options), (1,) * rank)
    yield SampleInput(make(1, 1, *sizes, **options), (5, 2, 3)[:rank])

    if not make.requires_grad:
        yield SampleInput(make(0, 2, *sizes, **options), (2,) * rank)
        yield SampleInput(make(2, 3, *(2 * size for size in sizes), layout="strided", **options), (3,) * rank)
        yield SampleInput(make(1, 2, *sizes, **options), (0, 2, 1)[:rank])
        if rank > 1:
            yield SampleInput(
                make(2, 3, *(2 * size for size in sizes), layout="channels_last", **options), (3,) * rank
            )
            yield SampleInput(
                make(2, 3, *(2 * size for size in sizes), layout="channels_last", **options), (1,) * rank
            )


@error_samples("adaptive_avg_pool2d", "adaptive_max_pool2d")
def adaptive_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 4), (2, 2)), RuntimeError, "3|dim")
    yield ErrorInput(SampleInput(make(1, 2, 0, 4), (2, 2)), RuntimeError, "non-zero")


@error_samples("adaptive_avg_pool3d", "adaptive_max_pool3d")
def adaptive3d_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4, 4, 4), (2, 2, 2)), RuntimeError, "4|dim")
    yield ErrorInput(SampleInput(make(1, 2, 4, 0, 4), (2, 2, 2)), RuntimeError, "non-zero")
