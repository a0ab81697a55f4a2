"""Pairs of tensors that broadcast; packages of operators use them too."""

from torch_py.testing.operators.samples.binary import (
    binary,
    binary_samples,
    mismatched,
    mixed,
    numbers,
    pairs,
    with_numbers,
)

__all__ = ["binary", "binary_samples", "mismatched", "mixed", "numbers", "pairs", "with_numbers"]
