"""Special functions: the operators whose entries say `python_module: special`."""

import typing as _typing

from torch_py import _C
from torch_py._namespace import export_operators as _export_operators

_export_operators(_C._special, globals())

if _typing.TYPE_CHECKING:
    from torch_py._generated._special import *
