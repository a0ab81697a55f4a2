"""PyTorch's ways to build extensions. Their sources include PyTorch's headers, which are not these: all of
them refuse when they are used."""

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
    """Would compile `sources` and import them."""
    _refuse("load")


def load_inline(name: str, cpp_sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:
    """Would compile source text and import it."""
    _refuse("load_inline")


def CppExtension(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:  # noqa: N802  # PyTorch's name
    """Would describe an extension to setuptools."""
    _refuse("CppExtension")


def CUDAExtension(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:  # noqa: N802
    """Would describe an extension with CUDA to setuptools."""
    _refuse("CUDAExtension")


def SyclExtension(name: str, sources: Any, *arguments: Any, **keywords: Any) -> NoReturn:  # noqa: N802
    """Would describe an extension with SYCL to setuptools."""
    _refuse("SyclExtension")


class BuildExtension:
    """Would be setuptools' command that builds them."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        return cls


def is_ninja_available() -> bool:
    """Whether the program ninja can be started."""
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Raises RuntimeError without ninja."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja to get it)")
