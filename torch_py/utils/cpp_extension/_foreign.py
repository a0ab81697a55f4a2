"""PyTorch's functions to build extensions.

These need PyTorch's headers, so all of them raise NotImplementedError here.
"""

from __future__ import annotations

import shutil
import sys
from typing import Any, NoReturn

IS_WINDOWS = sys.platform == "win32"
IS_HIP_EXTENSION = False
CUDA_HOME: str | None = None  # this build has no CUDA
ROCM_HOME: str | None = None
COMMON_HIP_FLAGS: list[str] = []


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.utils.cpp_extension.{name}: torch_py does not build extensions against PyTorch's headers; "
        "operators of one's own are built by torch_py.utils.cpp_extension.build_operators"
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
    """Not implemented: in PyTorch it is the command of setuptools that builds extensions."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """This class itself."""
        return cls


def is_ninja_available() -> bool:
    """Whether the program ninja is installed."""
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Raises RuntimeError if ninja is not installed."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
