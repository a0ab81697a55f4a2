"""Generators of arguments, by the names that ``samples:`` of entries in native_functions.yaml use.

There is one file for each topic of native_functions.yaml. What several topics use has files of its own:
unary, binary, reductions, dimensions, matrices, pooling, random_numbers and dtypes.
tests/ops/__init__.py explains how to write samples.
"""

from __future__ import annotations

import importlib
import pkgutil

from tests.ops.samples.make import Make
from tests.ops.samples.registry import (
    ErrorInput,
    SampleInput,
    error_inputs,
    error_names,
    sample_inputs,
    sample_names,
)

# Every file of this folder registers what it declares, so that a new one needs no other edit.
for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

__all__ = [
    "ErrorInput",
    "Make",
    "SampleInput",
    "error_inputs",
    "error_names",
    "sample_inputs",
    "sample_names",
]
