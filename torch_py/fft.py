"""Discrete Fourier transforms: the operators whose entries say `python_module: fft`."""

from torch_py import _C
from torch_py._namespace import export_operators as _export_operators

_export_operators(_C._fft, globals())
