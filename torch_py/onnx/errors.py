"""The exceptions and warnings of `torch.onnx.export`."""

from __future__ import annotations

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
    """

    def __init__(self, operator: str, reason: str = "", module: str = "") -> None:
        self.operator = operator
        self.module = module
        where = f" (called in module '{module}')" if module else ""
        super().__init__(
            f"torch.onnx.export: the operator '{operator}'{where} {reason or 'has no mapping to ONNX'}"
        )
