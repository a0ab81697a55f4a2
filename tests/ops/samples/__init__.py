"""Named generators of arguments: what ``samples:`` of an entry in native_functions.yaml names. See
tests/ops/__init__.py."""

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
