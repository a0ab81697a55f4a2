"""Samples of interpolation, padding, grids, columns and shuffled channels."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_EXTENTS = {1: (5,), 2: (3, 4), 3: (2, 3, 2)}
_SIZES = {1: ((8,), (3,), (1,), (5,)), 2: ((5, 7), (2, 3), (6, 2)), 3: ((3, 4, 3), (1, 5, 2))}


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


def _interpolated(make: Make, rank: int) -> Iterator[SampleInput]:
    for align_corners in (False, True):
        yield from _resized(make, rank, align_corners)


@samples("upsample_nearest1d")
def upsample_nearest1d(make: Make) -> Iterator[SampleInput]:
    yield from _resized(make, 1)


@samples("upsample_nearest2d")
def upsample_nearest2d(make: Make) -> Iterator[SampleInput]:
    yield from _resized(make, 2)


@samples("upsample_nearest3d")
def upsample_nearest3d(make: Make) -> Iterator[SampleInput]:
    yield from _resized(make, 3)


@samples("upsample_linear1d")
def upsample_linear1d(make: Make) -> Iterator[SampleInput]:
    yield from _interpolated(make, 1)


@samples("upsample_bilinear2d")
def upsample_bilinear2d(make: Make) -> Iterator[SampleInput]:
    yield from _interpolated(make, 2)


@samples("upsample_trilinear3d")
def upsample_trilinear3d(make: Make) -> Iterator[SampleInput]:
    yield from _interpolated(make, 3)


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


# Padding


@samples("pad")
def pad(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), (1, 2))
    yield SampleInput(make(2, 3), (1, 2, -1, 0), "constant", 2.0)
    yield SampleInput(make(2, 2, 3), (1, 2), "reflect")
    yield SampleInput(make(1, 2, 3, 3), (2, -1, 1, 0), "replicate")
    yield SampleInput(make(1, 2, 3, 3), (1, 2, 0, -1), "circular")
    yield SampleInput(make(2, 2, 3, 2), (1, 0, 0, 2, 1, 1), "reflect")
    if not make.requires_grad:
        yield SampleInput(make(2, 3, 4, 5, layout="channels_last"), (1, 1, 2, 2), "reflect")
        yield SampleInput(make(0, 2, 3), (1, 1), "circular")


@error_samples("pad")
def pad_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), (1, 2, 3)), RuntimeError, "2")
    yield ErrorInput(SampleInput(make(3), (1, 2, 1, 1)), RuntimeError, "two times|4")
    yield ErrorInput(SampleInput(make(2, 3), (3, 0), "reflect"), RuntimeError, "less than")
    yield ErrorInput(SampleInput(make(2, 3), (4, 0), "circular"), RuntimeError, "wrapping")
    yield ErrorInput(SampleInput(make(2, 3), (1, 0), "reflect", 1.0), RuntimeError, "value")
    yield ErrorInput(SampleInput(make(3), (1, 0), "reflect"), NotImplementedError, "Only")
    yield ErrorInput(SampleInput(make(2, 3), (1, 0), "mirror"), NotImplementedError, "mirror")


def _padded(make: Make, rank: int) -> Iterator[SampleInput]:
    widths = {
        1: ((1, 2), (2, 0), (-1, 1)),
        2: ((1, 2, 0, 1), (2, -1, 1, 1)),
        3: ((1, 1, 0, 1, 1, 0), (0, 1, 2, -1, 0, 1)),
    }[rank]
    for pad in widths:
        yield SampleInput(make(*(2, 4, 3, 3)[: rank + 1]), pad)
    yield SampleInput(make(1, 2, *(3, 4, 3)[:rank]), widths[0])
    if not make.requires_grad:
        yield SampleInput(make(0, 2, *(3, 4, 3)[:rank]), widths[0])
        yield SampleInput(make(2, 2, *(3, 4, 3)[:rank], layout="transposed"), widths[0])
        if rank > 1:
            yield SampleInput(make(2, 3, *(3, 4, 3)[:rank], layout="channels_last"), widths[1])


@samples("reflection_pad1d")
def reflection_pad1d(make: Make) -> Iterator[SampleInput]:
    yield from _padded(make, 1)


@samples("reflection_pad2d")
def reflection_pad2d(make: Make) -> Iterator[SampleInput]:
    yield from _padded(make, 2)


@samples("reflection_pad3d")
def reflection_pad3d(make: Make) -> Iterator[SampleInput]:
    yield from _padded(make, 3)


@samples("replication_pad1d")
def replication_pad1d(make: Make) -> Iterator[SampleInput]:
    yield from _padded(make, 1)


@samples("replication_pad2d")
def replication_pad2d(make: Make) -> Iterator[SampleInput]:
    yield from _padded(make, 2)


@samples("replication_pad3d")
def replication_pad3d(make: Make) -> Iterator[SampleInput]:
    yield from _padded(make, 3)


@samples("pad_circular")
def pad_circular(make: Make) -> Iterator[SampleInput]:
    for rank in (1, 2, 3):
        yield from _padded(make, rank)


@error_samples("reflection_pad2d")
def reflection_pad_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 3, 3), (3, 0, 0, 0)), RuntimeError, "less than")
    yield ErrorInput(SampleInput(make(3, 3), (1, 1, 1, 1)), RuntimeError, "3D|4D")


@error_samples("replication_pad2d")
def replication_pad_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 3, 3), (-2, -1, 0, 0)), RuntimeError, "small")
    yield ErrorInput(SampleInput(make(3, 3), (1, 1, 1, 1)), RuntimeError, "3D|4D")


# Grids


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


@samples("grid_sampler")
def grid_sampler(make: Make) -> Iterator[SampleInput]:
    yield from _gridded(make, 2)


@samples("grid_sampler_2d")
def grid_sampler_2d(make: Make) -> Iterator[SampleInput]:
    yield from _gridded(make, 2)


@samples("grid_sampler_3d")
def grid_sampler_3d(make: Make) -> Iterator[SampleInput]:
    yield from _gridded(make, 3)


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


# Columns


@samples("im2col")
def im2col(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 2, 4, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    yield SampleInput(make(2, 5, 4), (2, 3), (2, 1), (1, 0), (2, 1))
    if not make.requires_grad:
        yield SampleInput(make(0, 2, 4, 3), (2, 2), (1, 1), (0, 0), (1, 1))
        yield SampleInput(make(2, 3, 6, 5, layout="channels_last"), (3, 3), (1, 1), (1, 1), (2, 2))


@samples("col2im")
def col2im(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 8, 6), (4, 3), (2, 2), (1, 1), (0, 0), (1, 1))
    yield SampleInput(make(6, 6), (5, 4), (2, 3), (2, 1), (1, 0), (2, 1))
    if not make.requires_grad:
        yield SampleInput(make(2, 9, 9, layout="transposed"), (6, 5), (3, 3), (1, 1), (1, 1), (2, 2))


@error_samples("im2col")
def im2col_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 3, 3), (4, 4), (1, 1), (0, 0), (1, 1)), RuntimeError, "too small")
    yield ErrorInput(SampleInput(make(3, 3), (2, 2), (1, 1), (0, 0), (1, 1)), RuntimeError, "3D|4D")
    yield ErrorInput(SampleInput(make(1, 2, 3, 3), (2, 2), (1, 1), (0, 0), (0, 1)), RuntimeError, "stride")


@error_samples("col2im")
def col2im_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(1, 7, 6), (4, 3), (2, 2), (1, 1), (0, 0), (1, 1)), RuntimeError, "divisible"
    )
    yield ErrorInput(
        SampleInput(make(1, 8, 5), (4, 3), (2, 2), (1, 1), (0, 0), (1, 1)), RuntimeError, "match|blocks"
    )


# Channels


@samples("pixel_shuffle")
def pixel_shuffle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 4, 2, 3), 2)
    yield SampleInput(make(9, 1, 2), 3)
    yield SampleInput(make(2, 1, 4, 2, 2), 1)
    if not make.requires_grad:
        yield SampleInput(make(2, 8, 3, 2, layout="channels_last"), 2)
        yield SampleInput(make(0, 4, 3, 2), 2)


@samples("pixel_unshuffle")
def pixel_unshuffle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 1, 4, 6), 2)
    yield SampleInput(make(2, 3, 3), 3)
    if not make.requires_grad:
        yield SampleInput(make(2, 2, 4, 6, layout="channels_last"), 2)


@samples("channel_shuffle")
def channel_shuffle(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(1, 6, 2, 2), 3)
    yield SampleInput(make(2, 4, 3), 2)
    if not make.requires_grad:
        yield SampleInput(make(2, 6, 4, 3, layout="channels_last"), 2)


@error_samples("pixel_shuffle")
def pixel_shuffle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 6, 2, 2), 2), RuntimeError, "divisible")
    yield ErrorInput(SampleInput(make(4, 4), 2), RuntimeError, "3 dim")
    yield ErrorInput(SampleInput(make(1, 4, 2, 2), 0), RuntimeError, "positive")


@error_samples("pixel_unshuffle")
def pixel_unshuffle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 1, 3, 4), 2), RuntimeError, "height")
    yield ErrorInput(SampleInput(make(1, 1, 4, 3), 2), RuntimeError, "width")


@error_samples("channel_shuffle")
def channel_shuffle_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 5, 2), 2), RuntimeError, "divisible")
    yield ErrorInput(SampleInput(make(4, 2), 2), RuntimeError, "2 dim")
