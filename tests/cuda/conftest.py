"""Tests of `torch.cuda` on a device: `TORCH_PY_CUDA_LIBRARY=LIBRARY pytest tests/cuda`.

They are collected only where that variable names a library, such as build/emulation/libtorch_py_cuda.so.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return None if os.environ.get("TORCH_PY_CUDA_LIBRARY") else True


@pytest.fixture
def two_devices() -> Any:
    """The module `torch`, where there are at least two devices."""
    from tests.subject import torch

    if torch.cuda.device_count() < 2:
        pytest.skip("needs two devices")
    return torch


@pytest.fixture(autouse=True)
def _first_device() -> Any:
    """Every test begins and ends on device 0 and its default stream."""
    from tests.subject import torch

    torch.cuda.set_device(0)
    yield
    torch.cuda.synchronize()
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    torch.cuda.set_device(0)
