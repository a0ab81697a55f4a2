"""The functions that the emulation has for tests."""

from __future__ import annotations

import ctypes
import os

import pytest


def emulated_library() -> ctypes.CDLL:
    """The library that the process has opened; skips the test if it is for a GPU."""
    library = ctypes.CDLL(os.environ["TORCH_PY_CUDA_LIBRARY"])
    if not hasattr(library, "torch_py_emulation_last_engine"):
        pytest.skip("needs the emulation")
    return library
