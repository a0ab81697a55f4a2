"""Where the headers and the libraries of this installation are."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def include_paths() -> list[str]:
    """The folders in which a C++ compiler finds ``#include
    "aten/core/Tensor.h"`` and ``"aten/ops/add.h"``."""
    installed = _PACKAGE / "include"
    if installed.is_dir():
        return [str(installed)]
    return [str(_PACKAGE.parent), str(_PACKAGE.parent / "build" / "generated")]


def library_paths() -> list[str]:
    """The folders with ``libtorch_py.so`` and ``libtorch_py_python.so``."""
    return [str(_PACKAGE / "lib")]
