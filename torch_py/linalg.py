"""Linear algebra: the operators whose entries say `python_module: linalg`."""

from torch_py import _C
from torch_py._namespace import export_operators as _export_operators

LinAlgError = _C._LinAlgError

_export_operators(_C._linalg, globals())
