"""Calls of the machinery itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch_py import _C
from torch_py._dispatch_keys import DispatchKey

_PYTHON_KEY = 1 << DispatchKey.Python


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """Calls inside the block are received by no mode and no class."""
    before = _C._set_excluded_keys(_C._excluded_keys() | _PYTHON_KEY)
    try:
        yield
    finally:
        _C._set_excluded_keys(before)
