"""The exceptions and warnings of `torch.onnx.export`."""

from __future__ import annotations

from torch_py.onnx._calls import Origin

__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "TracerWarning",
    "UnsupportedOperatorError",
]


class OnnxExporterWarning(UserWarning):
    """Something was exported in a different way than requested."""


class TracerWarning(OnnxExporterWarning):
    """The program read a number from a tensor; the exported graph keeps the number of this run."""


class OnnxExporterError(RuntimeError):
    """The program cannot be written as an ONNX graph."""


class SymbolicValueError(OnnxExporterError):
    """A number depends on a dynamic dimension in a way that the exporter could not determine."""


class UnsupportedOperatorError(OnnxExporterError):
    """ONNX does not have an operator or cannot express one of its arguments.

    Attributes:
        operator: the name of the operator.
        module: the path of the module that called it, "" for the model itself.
        file, line: where the program called it.
    """

    def __init__(self, operator: str, reason: str = "", origin: Origin | None = None) -> None:
        origin = Origin() if origin is None else origin
        self.operator = operator
        self.module = origin.module
        self.file = origin.file
        self.line = origin.line
        super().__init__(
            f"torch.onnx.export: the operator '{operator}'{origin} {reason or 'has no translation to ONNX'}"
        )
