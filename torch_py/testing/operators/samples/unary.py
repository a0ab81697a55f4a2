"""Single tensors in a range of values, for every operator that works element by element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py.testing.operators.make import Make
from torch_py.testing.operators.registry import SampleInput, samples


def tensors(make: Make, **options: Any) -> Iterator[Any]:
    """One tensor per shape and layout that loops treat differently; ``options`` choose the values."""
    yield make(2, 3, **options)
    yield make(**options)
    yield make(0, **options)
    if not make.requires_grad:
        yield make(2, 0, 3, **options)
        yield make(5, **options)
        yield make(71, **options)  # longer than any vector register, with a remainder
        yield make(2, 3, 4, layout="transposed", **options)
        yield make(2, 3, 2, 2, layout="channels_last", **options)
    yield from make.layouts(3, 4, **options)


@samples("unary_any", extremes=False)
@samples("unary_any_number")
@samples("unary_positive", low=0.2, high=4.0)
@samples("unary_unit", low=-0.9, high=0.9)
@samples("unary_nonzero", away_from=(0,))
def unary_samples(make: Make, extremes: bool = True, **options: Any) -> Iterator[SampleInput]:
    for tensor in tensors(make, **options):
        yield SampleInput(tensor)
    if extremes and make.is_floating and not make.requires_grad:
        yield SampleInput(make.extremes())


@samples("unary")
def unary(make: Make) -> Iterator[SampleInput]:
    """The generator that ``python -m codegen new`` writes until someone chooses a better one."""
    yield from unary_samples(make)


@samples("unary_complex")
def unary_complex(make: Make) -> Iterator[SampleInput]:
    if make.is_complex:
        yield from unary_samples(make, extremes=False)


@samples("unary_float")
def unary_float(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make)
    if not make.requires_grad:
        yield SampleInput(make(33, low=-25.0, high=25.0))


@samples("unary_real")
def unary_real(make: Make) -> Iterator[SampleInput]:
    """Samples for step functions, away from their jumps."""
    yield from unary_samples(make, away_from=(-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5))
    if make.is_floating and not make.requires_grad:
        yield SampleInput(make.values([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.0, -7.0]))


@samples("unary_nonzero_float")
def unary_nonzero_float(make: Make) -> Iterator[SampleInput]:
    yield from unary_samples(make, away_from=(0,))
    if not make.requires_grad:
        yield SampleInput(make(33, low=-25.0, high=25.0))
