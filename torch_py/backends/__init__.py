"""Switches of accelerator libraries that programs set without asking whether they are there. Each says that it is not."""

from __future__ import annotations

from types import SimpleNamespace

from torch_py import _C
from torch_py.backends import opt_einsum as opt_einsum


class _Backend(SimpleNamespace):
    """Settings that are kept and have no effect while `is_available()` is False."""

    def __init__(self, available: bool = False, **settings: object) -> None:
        super().__init__(**settings)
        self._available = available

    def is_available(self) -> bool:
        return self._available

    def is_built(self) -> bool:
        return self._available


cudnn = _Backend(enabled=False, benchmark=False, deterministic=False, allow_tf32=False)
cuda = _Backend(matmul=SimpleNamespace(allow_tf32=False))
mps = _Backend()
mkldnn = _Backend()
mkl = _Backend("mkl" in str(getattr(_C, "_blas", "")).lower())
openmp = _Backend(True)
cpu = SimpleNamespace(get_cpu_capability=lambda: _C._cpu_capability())
