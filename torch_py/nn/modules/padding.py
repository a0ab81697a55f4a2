"""Layers that pad sequences, images and volumes.

Their argument `padding` is one width for all sides, or a width per side: (left, right) of the last dimension,
then of the one before, and so on.
"""

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
    """Base class of padding layers: pads the last `_rank` dimensions in the mode `_mode` of `F.pad`."""

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
    """Base class of layers that pad with the constant `value`."""

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
    """Pads sequences (N, C, L) with `value`."""

    _rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads images (N, C, H, W) with `value`."""

    _rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads volumes (N, C, D, H, W) with `value`."""

    _rank = 3


class ZeroPad1d(ConstantPad1d):
    """Pads sequences (N, C, L) with zeros."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pads images (N, C, H, W) with zeros."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pads volumes (N, C, D, H, W) with zeros."""

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    """Pads sequences (N, C, L) with their mirror image at the edges; edge elements are not repeated."""

    _rank = 1
    _mode = "reflect"


class ReflectionPad2d(_PadNd):
    """Pads images (N, C, H, W) with their mirror image at the edges; edge elements are not repeated."""

    _rank = 2
    _mode = "reflect"


class ReflectionPad3d(_PadNd):
    """Pads volumes (N, C, D, H, W) with their mirror image at the edges; edge elements are not repeated."""

    _rank = 3
    _mode = "reflect"


class ReplicationPad1d(_PadNd):
    """Pads sequences (N, C, L) by repeating their edge elements."""

    _rank = 1
    _mode = "replicate"


class ReplicationPad2d(_PadNd):
    """Pads images (N, C, H, W) by repeating their edge elements."""

    _rank = 2
    _mode = "replicate"


class ReplicationPad3d(_PadNd):
    """Pads volumes (N, C, D, H, W) by repeating their edge elements."""

    _rank = 3
    _mode = "replicate"


class _CircularPadNd(_PadNd):
    """Base class of layers that pad each side with elements of the opposite one."""

    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        return super().forward(input)

    def _check_input_dim(self, input: Tensor) -> None:
        rank = self._rank
        if input.dim() not in (rank + 1, rank + 2):
            raise ValueError(f"expected {rank + 1}D or {rank + 2}D input (got {input.dim()}D input)")


class CircularPad1d(_CircularPadNd):
    """Pads sequences (N, C, L) with elements of the opposite side, as if they were periodic."""

    _rank = 1


class CircularPad2d(_CircularPadNd):
    """Pads images (N, C, H, W) with elements of the opposite side, as if they were periodic."""

    _rank = 2


class CircularPad3d(_CircularPadNd):
    """Pads volumes (N, C, D, H, W) with elements of the opposite side, as if they were periodic."""

    _rank = 3
