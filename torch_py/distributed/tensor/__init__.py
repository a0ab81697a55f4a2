"""The type of tensors spread over processes, for annotations and
isinstance; creating one raises NotImplementedError."""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py._tensor import Tensor
from torch_py.distributed._world import absent

__all__ = ["DTensor", "distribute_module", "distribute_tensor"]


class DTensor(Tensor):
    """A tensor spread over processes, which cannot be created here."""

    def __new__(cls, *arguments: Any, **keywords: Any) -> NoReturn:
        absent("tensor.DTensor")()

    @staticmethod
    def from_local(*arguments: Any, **keywords: Any) -> NoReturn:
        absent("tensor.DTensor.from_local")()


distribute_module = absent("tensor.distribute_module")
distribute_tensor = absent("tensor.distribute_tensor")
