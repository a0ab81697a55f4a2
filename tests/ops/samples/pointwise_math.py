"""Samples of signs and rounding."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import SampleInput, samples
from tests.ops.samples.unary import tensors, unary_samples


@samples("unary_float_only")
def unary_float_only(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(-2, -1, 0, 1, 2))


@samples("unary_real_only")
def unary_real_only(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex:
        yield from unary_samples(make, away_from=(0,))


@samples("unary_nonzero_real")
def unary_nonzero_real(make: Make) -> Iterator[SampleInput]:
    for sample in unary_samples(make, away_from=(-2, -1, -0.5, 0, 0.5, 1, 2)):
        if make.is_floating:
            yield sample


@samples("signbit")
def signbit(make: Make) -> Iterator[SampleInput]:
    """Samples without NaN, whose sign is lost in conversions between dtypes."""
    if not make.is_complex:
        yield from unary_samples(make, extremes=False)
    if make.is_floating:
        yield SampleInput(make.extremes()[1:])


@samples("round_decimals")
def round_decimals(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    for decimals in (2, 0, -1):
        for tensor in tensors(make, low=-40.0, high=40.0):
            yield SampleInput(tensor, decimals=decimals)
    if not make.requires_grad and make.dtype_name != "float16":  # 1e4 * 1000 overflows float16
        yield SampleInput(make.extremes(), decimals=3)
