"""`torch.ops`: operators by namespace, ours under `aten`, those of programs under their own."""

from __future__ import annotations

import ctypes
from types import ModuleType
from typing import Any

from torch_py._custom_ops.registry import NativeOperator, lookup
from torch_py._pytorch_names.packages import lacking as _lacking

OpOverload = OpOverloadPacket = NativeOperator


class _OpNamespace(ModuleType):
    """`torch.ops.name`"""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lookup(self.name, name)


class _Ops(ModuleType):
    """`torch.ops`"""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        namespace = _OpNamespace(name)
        setattr(self, name, namespace)
        return namespace

    def load_library(self, path: str) -> None:
        """Loads a shared library; operators written against PyTorch's C++ need PyTorch.

        Raises OSError when it cannot be loaded.
        """
        ctypes.CDLL(str(path))

    def import_module(self, module: str) -> None:
        import importlib

        importlib.import_module(module)


ops = _Ops("torch.ops")

__getattr__ = _lacking(__name__)
