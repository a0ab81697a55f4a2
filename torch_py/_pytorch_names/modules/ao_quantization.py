"""Quantisation's marks in models. Models are not quantised here: what would do it raises
NotImplementedError."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

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
    """Where a model's input would become quantised: hands it on, as in a model that was not converted."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Where a model's output would become floating-point again: hands it on."""


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
