"""Special functions: the operators whose entries say `python_module: special`."""

from torch_py import _C
from torch_py._namespace import export_operators as _export_operators

_export_operators(_C._special, globals())
