"""The named tuples that operators return: `torch.return_types.max` has `values` and `indices`.

An operator makes its class when it first returns one; a class that is asked for before is made by a call.
"""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__)


# Operators whose results along a dimension have names.
_ALONG_DIM = ("cummax", "cummin", "max", "median", "min", "mode", "nanmedian", "sort")


def __getattr__(name: str) -> Any:
    if name in _ALONG_DIM and not hasattr(_C._return_types, name):
        getattr(_C._torch, name)(_C._torch.zeros(1), 0)
    if hasattr(_C._return_types, name):
        return getattr(_C._return_types, name)
    return _absent(name)
