"""Generators of samples by name; packages of operators use it too."""

from torch_py.testing.operators.registry import (
    ErrorInput,
    SampleInput,
    error_inputs,
    error_names,
    error_samples,
    is_tensor,
    sample_inputs,
    sample_names,
    samples,
)

__all__ = [
    "ErrorInput",
    "SampleInput",
    "error_inputs",
    "error_names",
    "error_samples",
    "is_tensor",
    "sample_inputs",
    "sample_names",
    "samples",
]
