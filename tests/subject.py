"""The library under test: torch_py, or PyTorch with TEST_WITH=torch, to check what a test expects.

Tests write ``from tests.subject import torch``.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest

WITH_PEER = os.environ.get("TEST_WITH") == "torch"
torch = importlib.import_module("torch" if WITH_PEER else "torch_py")
# For tests of features that PyTorch lacks or messages that it words differently.
only_torch_py = pytest.mark.skipif(WITH_PEER, reason="not a feature of PyTorch")
# For tests that limit or measure memory: `make sanitize` sets the variable.
not_sanitized = pytest.mark.skipif(
    "TORCH_PY_SANITIZED" in os.environ,
    reason="sanitizers reserve terabytes of addresses, and builds with them cache no memory",
)

# For tests of what is said where nothing of CUDA was built.
HAS_CUDA_LIBRARY = (Path(__file__).parents[1] / "torch_py/lib/libtorch_py_cuda.so").exists()

# The dtypes that NumPy has, too.
NUMPY_DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
