"""Exports models as ONNX files with the optional package `onnx`: `torch.onnx.export(model, args, "m.onnx")`.

An export records one run, so decisions that a model makes in Python are fixed in the file (see `export`).
"""

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.onnx import errors, symbolic_helper, symbolic_opset11
from torch_py.onnx._export import OperatorExportTypes, TrainingMode, export, is_in_onnx_export
from torch_py.onnx._program import ONNXProgram
from torch_py.onnx._symbolics import register_custom_op_symbolic, unregister_custom_op_symbolic
from torch_py.onnx.errors import OnnxExporterError

__all__ = [
    "ONNXProgram",
    "OnnxExporterError",
    "OperatorExportTypes",
    "TrainingMode",
    "errors",
    "export",
    "is_in_onnx_export",
    "register_custom_op_symbolic",
    "symbolic_helper",
    "symbolic_opset11",
    "unregister_custom_op_symbolic",
]

__getattr__ = _lacking(__name__, __path__)
