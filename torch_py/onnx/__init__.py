"""Models as ONNX files, through the optional package `onnx`: `torch.onnx.export(model, args, "model.onnx")`.

What a model decides in Python while it runs cannot be seen and is fixed in the file; :func:`export` says
more.
"""

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
