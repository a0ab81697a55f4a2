"""Arguments that the operators are tested with: `samples:` of an entry names a generator here.

Generators for many operators come with torch_py: unary, unary_float, unary_positive, binary, reduction.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch_py.testing.operators import Make, SampleInput, samples
from torch_py.testing.operators.samples.unary import tensors


@samples("{{ function }}")
def {{ function }}(make: Make) -> Iterator[SampleInput]:
    """Tensors of all shapes and layouts."""
    for tensor in tensors(make):
        yield SampleInput(tensor{{ arguments }})
