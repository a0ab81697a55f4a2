"""Samples of interpolation."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_EXTENTS = {1: (5,), 2: (3, 4), 3: (2, 3, 2)}


_SIZES = {1: ((8,), (3,), (1,), (5,)), 2: ((5, 7), (2, 3), (6, 2)), 3: ((3, 4, 3), (1, 5, 2))}


@samples("upsample_nearest1d", 1)
@samples("upsample_nearest2d", 2)
@samples("upsample_nearest3d", 3)
def _resized(make: Make, rank: int, *arguments: bool) -> Iterator[SampleInput]:
    for sizes in _SIZES[rank]:
        yield SampleInput(make(1, 2, *_EXTENTS[rank]), sizes, *arguments)
    yield SampleInput(
        make(1, 1, *_EXTENTS[rank]), tuple(2 * size for size in _EXTENTS[rank]), *arguments, *(2.3,) * rank
    )

    if make.requires_grad:
        return

    yield SampleInput(make(0, 2, *_EXTENTS[rank]), _SIZES[rank][0], *arguments)
    yield SampleInput(
        make(2, 3, *(7 * size for size in _EXTENTS[rank]), layout="strided"),
        tuple(5 * n for n in _EXTENTS[rank]),
        *arguments,
    )

    if rank > 1:
        yield SampleInput(
            make(2, 3, *(3 * size for size in _EXTENTS[rank]), layout="channels_last"),
            _SIZES[rank][0],
            *arguments,
        )
        yield SampleInput(
            make(2, 3, *_EXTENTS[rank], layout="channels_last"),
            tuple(5 * n for n in _EXTENTS[rank]),
            *arguments,
        )


@samples("upsample_linear1d", 1)
@samples("upsample_bilinear2d", 2)
@samples("upsample_trilinear3d", 3)
def _interpolated(make: Make, rank: int) -> Iterator[SampleInput]:
    for align_corners in (False, True):
        yield from _resized(make, rank, align_corners)


@error_samples("upsample_nearest2d")
def upsample_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3, 4), (4, 4)), RuntimeError, "4|dim")
    yield ErrorInput(SampleInput(make(1, 2, 3, 4), (4, 4, 4)), RuntimeError, "2")
    yield ErrorInput(SampleInput(make(1, 2, 3, 4), (0, 4)), RuntimeError, "greater than 0")


@error_samples("upsample_bilinear2d")
def upsample_bilinear_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3, 4), (4, 4), False), RuntimeError, "4|dim")
    yield ErrorInput(
        SampleInput(make(1, 2, 0, 4), (4, 4), False), RuntimeError, "greater than 0|[Nn]on-empty"
    )
