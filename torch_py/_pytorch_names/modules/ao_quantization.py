"""Marks in models for quantisation, which pass values through.

Functions that quantise raise NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.modules.module import Module

__all__ = [
    "DeQuantStub",
    "QuantStub",
    "convert",
    "fuse_modules",
    "fuse_modules_qat",
    "prepare",
    "prepare_qat",
    "quantize_dynamic",
]


class QuantStub(Module):
    """Marks where a quantised model converts its input: returns the
    input, as in a model that was not converted."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Marks where a quantised model converts its output back: returns its input."""


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*arguments: Any, **keywords: Any) -> NoReturn:
        raise NotImplementedError(f"torch.ao.quantization.{name}: torch_py does not quantise models")

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


convert = _refusing("convert")
fuse_modules = _refusing("fuse_modules")
fuse_modules_qat = _refusing("fuse_modules_qat")
get_default_qat_qconfig = _refusing("get_default_qat_qconfig")
get_default_qconfig = _refusing("get_default_qconfig")
prepare = _refusing("prepare")
prepare_qat = _refusing("prepare_qat")
quantize_dynamic = _refusing("quantize_dynamic")


__getattr__ = _lacking(__name__)
