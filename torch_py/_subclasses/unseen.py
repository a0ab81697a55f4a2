"""Calls of the machinery itself."""

from __future__ import annotations

from torch_py._dispatch_keys import DispatchKey, ExcludeKeys

_PYTHON_KEY = 1 << DispatchKey.Python


def unseen() -> ExcludeKeys:
    """A context in which no mode and no class receives calls."""
    return ExcludeKeys(_PYTHON_KEY)
