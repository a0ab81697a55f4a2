"""Arguments that the operators are tested with: `samples:` of an entry names a generator here."""

from __future__ import annotations

from collections.abc import Iterator

from torch_py.testing.operators import Make, SampleInput, samples
from torch_py.testing.operators.samples.binary import pairs
from torch_py.testing.operators.samples.reductions import over_all, over_dims, over_nothing
from torch_py.testing.operators.samples.reductions import tensors as reduced
from torch_py.testing.operators.samples.unary import tensors


@samples("softcap")
def softcap(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make):
        yield SampleInput(tensor, 2.0)
    yield SampleInput(make(2, 3), cap=30.0)


@samples("log_cosh")
def log_cosh(make: Make) -> Iterator[SampleInput]:
    """Predictions and targets that differ: the formula has a kink where they are equal."""
    for prediction, target in pairs(make, other={"low": 3.0, "high": 5.0}):
        yield SampleInput(prediction, target)
    yield SampleInput(make(3), make(3, low=3.0, high=5.0), scale=0.5)


@samples("smooth_maximum")
def smooth_maximum(make: Make) -> Iterator[SampleInput]:
    """Over all dimensions, one and several, and rows without elements."""
    yield from over_all(make)
    yield from over_dims(make)
    yield from over_nothing(make)
    yield SampleInput(make(3, 4), 1, scale=3.0)


@samples("magnitude")
def magnitude(make: Make) -> Iterator[SampleInput]:
    """Over all dimensions, one and several; not of zeros, where the slope is not defined."""
    yield from over_all(make)
    yield from over_dims(make)


@samples("standardized")
def standardized(make: Make) -> Iterator[SampleInput]:
    for tensor in reduced(make):
        yield SampleInput(tensor, -1)
        yield SampleInput(tensor, [0], eps=0.1)
    yield SampleInput(make(2, 3, 4), [0, 2])
