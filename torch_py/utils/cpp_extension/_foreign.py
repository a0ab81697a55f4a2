"""PyTorch's functions for building C++ extensions (not implemented here), and its check for ninja.

Such extensions are compiled against PyTorch's headers, which this library does not have: functions that build
them raise NotImplementedError.
"""

from __future__ import annotations

import shutil
import sys
from typing import Any, NoReturn

IS_WINDOWS = sys.platform == "win32"
IS_HIP_EXTENSION = False
CUDA_HOME: str | None = None  # CUDA is not part of this build
ROCM_HOME: str | None = None
COMMON_HIP_FLAGS: list[str] = []


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.utils.cpp_extension.{name}: torch_py does not build extensions against PyTorch's headers; "
        "build your own operators with torch_py.utils.cpp_extension.build_operators"
    )


def load(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:
    """Not implemented: in PyTorch it compiles `sources` and imports them."""
    _refuse("load")


def load_inline(name: str, cpp_sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:
    """Not implemented: in PyTorch it compiles source text and imports it."""
    _refuse("load_inline")


def CppExtension(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:  # noqa: N802  # PyTorch's name
    """Not implemented: in PyTorch it describes an extension to setuptools."""
    _refuse("CppExtension")


def CUDAExtension(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:  # noqa: N802
    """Not implemented: in PyTorch it describes an extension with CUDA to setuptools."""
    _refuse("CUDAExtension")


def SyclExtension(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:  # noqa: N802
    """Not implemented: in PyTorch it describes an extension with SYCL to setuptools."""
    _refuse("SyclExtension")


class BuildExtension:
    """Not implemented: in PyTorch it is the setuptools command that builds extensions."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """Returns this class; the options have no effect."""
        return cls


def is_ninja_available() -> bool:
    """Returns whether the program `ninja` is installed."""
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Raises RuntimeError if ninja is not installed."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
