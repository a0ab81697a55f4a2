"""Padding of sequences, images and volumes: one width for all sides, or (left, right) of the last dimension,
of the one before, ..."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.utils import _ntuple

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _PadNd(Module):
    """Pads `_rank` dimensions by `_mode`."""

    __constants__ = ["padding"]
    _rank: int
    _mode: str

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._rank)(padding)

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]
    _mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """`value` around sequences."""

    _rank = 1


class ConstantPad2d(_ConstantPadNd):
    """`value` around images."""

    _rank = 2


class ConstantPad3d(_ConstantPadNd):
    """`value` around volumes."""

    _rank = 3


class ZeroPad1d(ConstantPad1d):
    """Zeros around sequences."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Zeros around images."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Zeros around volumes."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    """Sequences mirrored at their border elements."""

    _rank = 1
    _mode = "reflect"


class ReflectionPad2d(_PadNd):
    """Images mirrored at their border elements."""

    _rank = 2
    _mode = "reflect"


class ReflectionPad3d(_PadNd):
    """Volumes mirrored at their border elements."""

    _rank = 3
    _mode = "reflect"


class ReplicationPad1d(_PadNd):
    """Sequences whose border elements are repeated."""

    _rank = 1
    _mode = "replicate"


class ReplicationPad2d(_PadNd):
    """Images whose border elements are repeated."""

    _rank = 2
    _mode = "replicate"


class ReplicationPad3d(_PadNd):
    """Volumes whose border elements are repeated."""

    _rank = 3
    _mode = "replicate"


class _CircularPadNd(_PadNd):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Tensor) -> None:
        rank = self._rank
        if input.dim() not in (rank + 1, rank + 2):
            raise ValueError(f"expected {rank + 1}D or {rank + 2}D input (got {input.dim()}D input)")


class CircularPad1d(_CircularPadNd):
    """Sequences wrapped around."""

    _rank = 1


class CircularPad2d(_CircularPadNd):
    """Images wrapped around."""

    _rank = 2


class CircularPad3d(_CircularPadNd):
    """Volumes wrapped around."""

    _rank = 3
