"""`torch.cuda` in a build without CUDA: questions are answered, requests are refused.

Calls that portable programs make unconditionally (`empty_cache`, seeding) do nothing, as there is nothing to
do.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from typing import Any, NoReturn

from torch_py._pytorch_names.devices import fill as _fill
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._pytorch_names.tensor_types import NAMES as _LEGACY_NAMES
from torch_py._pytorch_names.tensor_types import unavailable_type as _unavailable_type

has_half = True
has_magma = False


def _refuse(function: str) -> NoReturn:
    raise AssertionError(f"torch.cuda.{function}: this build of torch_py has no CUDA support")


def set_rng_state_all(new_states: Any) -> None:
    if list(new_states):
        _refuse("set_rng_state_all")


def is_tf32_supported() -> bool:
    return False


def get_sync_debug_mode() -> int:
    return 0


def cudart() -> NoReturn:
    _refuse("cudart")


class CUDAGraph:
    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        _refuse("CUDAGraph")


@contextlib.contextmanager
def graph(*arguments: Any, **keywords: Any) -> Iterator[None]:
    _refuse("graph")
    yield


def make_graphed_callables(*arguments: Any, **keywords: Any) -> NoReturn:
    _refuse("make_graphed_callables")


def _lazy_init() -> NoReturn:
    _refuse("init")


def _lazy_call(callable: Any, **keywords: Any) -> None:
    """Does nothing: CUDA, whose initialization would call, is never initialized."""


_fill(globals(), "cuda")
device_of = device  # type: ignore[name-defined]  # noqa: F821
StreamContext = stream  # type: ignore[name-defined]  # noqa: F821

_LAZY_MODULES = ("amp", "memory", "nvtx", "random")


_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES:
        return importlib.import_module(f"torch_py.cuda.{name}")
    if name in _LEGACY_NAMES:
        globals()[name] = _unavailable_type(__name__, name)
        return globals()[name]
    return _absent(name)
