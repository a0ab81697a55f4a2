"""The named tuples that operators return: `torch.return_types.max` has `values` and `indices`.

One is there once an operator has returned it, which is when a program can have met it.
"""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._pytorch_names.packages import lacking as _lacking

_absent = _lacking(__name__)


def __getattr__(name: str) -> Any:
    if hasattr(_C._return_types, name):
        return getattr(_C._return_types, name)
    return _absent(name)
