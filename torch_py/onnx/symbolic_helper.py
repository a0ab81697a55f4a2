"""Declares symbolic functions; not used by our exporter, see `parse_args`."""

from torch_py.onnx._symbolics import parse_args

__all__ = ["parse_args"]
