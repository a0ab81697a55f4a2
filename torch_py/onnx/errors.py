"""What `torch.onnx.export` raises and warns of."""

from __future__ import annotations

__all__ = [
    "OnnxExporterError",
    "OnnxExporterWarning",
    "SymbolicValueError",
    "TracerWarning",
    "UnsupportedOperatorError",
]


class OnnxExporterWarning(UserWarning):
    """Something was exported in another way than asked for."""


class TracerWarning(OnnxExporterWarning):
    """The program read a number out of a tensor; the exported graph keeps the number that this run found."""


class OnnxExporterError(RuntimeError):
    """The program cannot be written as an ONNX graph."""


class SymbolicValueError(OnnxExporterError):
    """A number depends on a dynamic dimension in a way that was not found out."""


class UnsupportedOperatorError(OnnxExporterError):
    """An operator, or one of its arguments, has no counterpart in ONNX.

    Attributes:
        operator: its name.
        module: the path of the module that called it, "" for the model itself.
    """

    def __init__(self, operator: str, reason: str = "", module: str = "") -> None:
        self.operator = operator
        self.module = module
        where = f" (called in module '{module}')" if module else ""
        super().__init__(
            f"torch.onnx.export: the operator '{operator}'{where} {reason or 'has no mapping to ONNX'}"
        )
