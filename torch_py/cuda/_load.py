"""Finds and opens the CUDA library, which is a shared object of its own."""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path

from torch_py import _C

VARIABLE = "TORCH_PY_CUDA_LIBRARY"
PACKAGE = "torch_py_cuda13"
FILE = "libtorch_py_cuda.so"


def library() -> Path | None:
    """The library to open: the one that the variable names, else that of a checkout, else that of the
    package; None if no file is found."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)

    built = Path(__file__).resolve().parent.parent / "lib" / FILE
    if built.exists():
        return built

    package = importlib.util.find_spec(PACKAGE)
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        if (Path(folder) / FILE).exists():
            return Path(folder) / FILE
    return None


def _folders_of_packages() -> list[str]:
    """Where pip has put NVIDIA's libraries, such as cuBLAS."""
    packages = importlib.util.find_spec("nvidia")
    roots = packages.submodule_search_locations if packages is not None else None
    return [str(folder) for root in roots or () for folder in sorted(Path(root).glob("*/lib"))]


def load() -> bool:
    """Opens the library; the bindings call this once, when a CUDA device is first needed.

    Returns False if it is missing or cannot be opened; errors then say why.
    """
    global was_tried
    was_tried = True

    path = library()
    if path is None:
        _refuse(
            f"no CUDA library was found: {VARIABLE} is not set, torch_py/lib/{FILE} has not been built "
            f"(`make cuda`), and the package {PACKAGE} is not installed"
        )
        return False

    _C._set_library_folders(_folders_of_packages())
    try:
        _C._open_backend(str(path.absolute()))
    except OSError as error:
        _refuse(f"the CUDA library cannot be opened: {error}")
        return False
    if not _C._cuda_isLoaded():
        _refuse(f"{path} is not a CUDA library of torch_py")
        return False

    # Seeds that were set before the library was needed.
    if _C._cuda_getDeviceCount() > 0:
        importlib.import_module("torch_py.cuda._init").run_waiting_calls()
    return True


def _refuse(why: str) -> None:
    global _reason
    _reason = f"torch_py has no CUDA support in this process: {why}"
    _C._set_absence_reason("cuda", _reason)


def reason() -> str:
    """Why CUDA cannot be used; empty if the library is loaded and there is a device."""
    if _C._cuda_getDeviceCount() > 0:
        return ""
    if _C._cuda_isLoaded():
        return (
            "No CUDA GPUs are available: found no NVIDIA driver on this system, or no device that it shows "
            "to this process (CUDA_VISIBLE_DEVICES)"
        )
    return _reason


_reason = ""
was_tried = False  # the library is looked for once
