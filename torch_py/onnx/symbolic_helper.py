"""Declares symbolic functions, which this exporter does not use; see `parse_args`."""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.onnx._symbolics import parse_args

__all__ = ["parse_args"]

__getattr__ = _lacking(__name__)
