"""Samples of interpolation to a size or by factors."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("upsample_nearest1d_vec", 1, takes_corners=False)
@samples("upsample_nearest2d_vec", 2, takes_corners=False)
@samples("upsample_nearest3d_vec", 3, takes_corners=False)
@samples("upsample_linear1d_vec", 1, takes_corners=True)
@samples("upsample_bilinear2d_vec", 2, takes_corners=True)
@samples("upsample_trilinear3d_vec", 3, takes_corners=True)
def _by_factor(make: Make, spatial: int, *, takes_corners: bool) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    sizes = (2, 2, 4, 3, 2)[: 2 + spatial]
    for options in ((False,), (True,)) if takes_corners else ((),):
        yield SampleInput(make(*sizes), (3, 5, 2)[:spatial], *options, None)
        yield SampleInput(make(*sizes), None, *options, (1.5, 0.75, 2.0)[:spatial])
    if not make.requires_grad and spatial == 2:
        options = (False,) if takes_corners else ()
        yield SampleInput(make(2, 2, 4, 3, layout="channels_last"), None, *options, (2.0, 1.7))


@error_samples("upsample_nearest2d_vec")
def upsample_nearest2d_vec_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(1, 2, 3, 4), None, None), RuntimeError, "exactly one")
    yield ErrorInput(SampleInput(make(1, 2, 3, 4), (4, 4), (2.0, 2.0)), RuntimeError, "exactly one")
