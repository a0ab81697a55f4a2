"""Linear algebra: the operators whose entries say `python_module: linalg`."""

import typing as _typing

from torch_py import _C
from torch_py._namespace import export_operators as _export_operators

LinAlgError = _C._LinAlgError

_export_operators(_C._linalg, globals())

if _typing.TYPE_CHECKING:
    from torch_py._generated._linalg import *
