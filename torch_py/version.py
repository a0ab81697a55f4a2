"""The version of this installation, and of CUDA where there is a CUDA library (else None)."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"
cuda: str | None
hip: str | None = None
xpu: str | None = None
debug = False
git_version = "unknown"  # an installation does not know its commit


def __getattr__(name: str) -> Any:
    if name != "cuda":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    # Imported here: packagers read the version without the native module.
    from torch_py import _C

    if not _C._cuda_isLoaded():
        return None
    runtime = _C._cuda_versions()[1]
    return f"{runtime // 1000}.{runtime % 1000 // 10}"
