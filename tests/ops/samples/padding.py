"""Samples of padding."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


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


@samples("reflection_pad1d", 1)
@samples("replication_pad1d", 1)
@samples("reflection_pad2d", 2)
@samples("replication_pad2d", 2)
@samples("reflection_pad3d", 3)
@samples("replication_pad3d", 3)
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


@samples("constant_pad")
def constant_pad(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3), (1, 2))
    yield SampleInput(make(2, 3), (1, 0, 0, 2), 1)
    yield SampleInput(make(2, 3), (-1, 1), 1)
    yield SampleInput(make(2, 3, layout="transposed"), (1, 1, -1, 0))
    yield SampleInput(make(3), (0, 0))
    yield SampleInput(make(0, 2), (0, 0, 1, 1))
    if make.is_inexact:
        yield SampleInput(make(2, 3), (2, 1), -1.5)


@error_samples("constant_pad")
def constant_pad_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), (1,)), RuntimeError, "pad|even")
    yield ErrorInput(SampleInput(make(3), (1, 1, 1, 1)), RuntimeError, "pad")
    yield ErrorInput(SampleInput(make(3), (-4, 0)), RuntimeError, "-4|negative|pad")
