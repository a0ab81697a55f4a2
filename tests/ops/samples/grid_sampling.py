"""Samples of grid_sampler and affine grids."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_EXTENTS = {1: (5,), 2: (3, 4), 3: (2, 3, 2)}


@samples("grid_sampler", 2)
@samples("grid_sampler_2d", 2)
@samples("grid_sampler_3d", 3)
def _gridded(make: Make, rank: int) -> Iterator[SampleInput]:
    extents, points = _EXTENTS[rank], (2, 3, 1)[:rank]
    for mode in range(3 if rank == 2 else 2):
        for outside in range(3):
            for align_corners in (False, True):
                # No point where a weight has a kink: at the middles of elements and at the edges.
                grid = make(1, *points, rank, low=-1.37, high=1.41, away_from=(-1.0, 0.0, 1.0, -0.5, 0.5))
                yield SampleInput(make(1, 2, *extents), grid, mode, outside, align_corners)
    if not make.requires_grad:
        yield SampleInput(
            make(3, 5, *extents), make(3, *(7 * n for n in points), rank, low=-3, high=3), 0, 2, False
        )
        yield SampleInput(
            make(2, 3, *extents, layout="channels_last"), make(2, *points, rank, layout="strided"), 0, 0, True
        )
        yield SampleInput(make(0, 2, *extents), make(0, *points, rank), 0, 0, False)


@error_samples("grid_sampler")
def grid_sampler_errors(make: Make) -> Iterator[ErrorInput]:
    image = make(1, 2, 3, 4)
    yield ErrorInput(SampleInput(image, make(2, 3, 3, 2), 0, 0, False), RuntimeError, "batch")
    yield ErrorInput(SampleInput(image, make(1, 3, 3, 3), 0, 0, False), RuntimeError, "last dimension")
    yield ErrorInput(SampleInput(image, make(1, 2, 3, 3, 3), 0, 0, False), RuntimeError, "dimensions")
    yield ErrorInput(
        SampleInput(make(1, 2, 3, 3, 3), make(1, 2, 3, 3, 3), 2, 0, False), RuntimeError, "bicubic"
    )


@samples("affine_grid_generator")
def affine_grid_generator(make: Make) -> Iterator[SampleInput]:
    for align_corners in (False, True):
        yield SampleInput(make(2, 2, 3), (2, 1, 3, 4), align_corners)
        yield SampleInput(make(1, 3, 4), (1, 2, 2, 3, 1), align_corners)


@error_samples("affine_grid_generator")
def affine_grid_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3, 3), (2, 1, 3, 4), False), RuntimeError, "affine|Expected")
