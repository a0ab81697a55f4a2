"""How this installation was built and how it runs."""

from __future__ import annotations

import os

from torch_py import _C, version
from torch_py.version import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """One line each of version, linear algebra and instruction set."""
    lines = (
        f"torch_py {__version__}",
        f"BLAS: {_C._blas}",
        f"CPU capability usage: {_C._cpu_capability()}",
        f"CUDA: {version.cuda or 'no library'}",
    )
    return "torch_py built with:\n" + "".join(f"  - {line}\n" for line in lines)


def parallel_info() -> str:
    """Threads of kernels, and the variables that set them."""
    lines = [
        f"torch.get_num_threads() : {_C.get_num_threads()}",
        f"std::thread::hardware_concurrency() : {os.cpu_count()}",
        "Environment variables:",
    ]
    lines += [
        f"\t{name} : {os.environ.get(name, '[not set]')}" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
    ]
    return "\n".join(lines) + "\n"


def _cxx_flags() -> str:
    return ""
