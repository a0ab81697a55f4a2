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
    """Pads sequences with a constant.

    Args:
        padding: the width on all sides, or (left, right). Negative widths cut off elements
        value: the constant

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ConstantPad1d(1, 9.0)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[9., 1., 2., 3., 9.]])
    """

    _rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads images with a constant.

    Args:
        padding: the width on all sides, or (left, right, top, bottom). Negative widths cut off elements
        value: the constant

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ConstantPad2d(1, 9.0)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[9., 9., 9., 9.],
                 [9., 1., 2., 9.],
                 [9., 3., 4., 9.],
                 [9., 9., 9., 9.]]])
    """

    _rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads volumes with a constant.

    Args:
        padding: the width on all sides, or (left, right, top, bottom, front, back). Negative widths cut off
            elements
        value: the constant

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ConstantPad3d(1, 9.0)(torch.randn(1, 2, 3, 3, 3)).shape
        torch.Size([1, 2, 5, 5, 5])
    """

    _rank = 3


class ZeroPad1d(ConstantPad1d):
    """Pads sequences with zeros.

    Args:
        padding: the width on all sides, or (left, right). Negative widths cut off elements

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ZeroPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[0., 1., 2., 3., 0.]])
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad2d(ConstantPad2d):
    """Pads images with zeros.

    Args:
        padding: the width on all sides, or (left, right, top, bottom). Negative widths cut off elements

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ZeroPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[0., 0., 0., 0.],
                 [0., 1., 2., 0.],
                 [0., 3., 4., 0.],
                 [0., 0., 0., 0.]]])
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad3d(ConstantPad3d):
    """Pads volumes with zeros.

    Args:
        padding: the width on all sides, or (left, right, top, bottom, front, back). Negative widths cut off
            elements

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ZeroPad3d(1)(torch.randn(1, 2, 3, 3, 3)).shape
        torch.Size([1, 2, 5, 5, 5])
    """

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ReflectionPad1d(_PadNd):
    """Pads sequences with their mirror image; the elements at the edges are not repeated.

    Padding must be smaller than the size of the input.

    Args:
        padding: the width on all sides, or (left, right). Negative widths cut off elements

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ReflectionPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[2., 1., 2., 3., 2.]])
    """

    _rank = 1
    _mode = "reflect"


class ReflectionPad2d(_PadNd):
    """Pads images with their mirror image; the elements at the edges are not repeated.

    Padding must be smaller than the size of the input.

    Args:
        padding: the width on all sides, or (left, right, top, bottom). Negative widths cut off elements

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ReflectionPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[4., 3., 4., 3.],
                 [2., 1., 2., 1.],
                 [4., 3., 4., 3.],
                 [2., 1., 2., 1.]]])
    """

    _rank = 2
    _mode = "reflect"


class ReflectionPad3d(_PadNd):
    """Pads volumes with their mirror image; the elements at the edges are not repeated.

    Padding must be smaller than the size of the input.

    Args:
        padding: the width on all sides, or (left, right, top, bottom, front, back). Negative widths cut off
            elements

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ReflectionPad3d(1)(torch.randn(1, 2, 3, 3, 3)).shape
        torch.Size([1, 2, 5, 5, 5])
    """

    _rank = 3
    _mode = "reflect"


class ReplicationPad1d(_PadNd):
    """Pads sequences by repeating the elements at their edges.

    Args:
        padding: the width on all sides, or (left, right). Negative widths cut off elements

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ReplicationPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[1., 1., 2., 3., 3.]])
    """

    _rank = 1
    _mode = "replicate"


class ReplicationPad2d(_PadNd):
    """Pads images by repeating the elements at their edges.

    Args:
        padding: the width on all sides, or (left, right, top, bottom). Negative widths cut off elements

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ReplicationPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[1., 1., 2., 2.],
                 [1., 1., 2., 2.],
                 [3., 3., 4., 4.],
                 [3., 3., 4., 4.]]])
    """

    _rank = 2
    _mode = "replicate"


class ReplicationPad3d(_PadNd):
    """Pads volumes by repeating the elements at their edges.

    Args:
        padding: the width on all sides, or (left, right, top, bottom, front, back). Negative widths cut off
            elements

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.ReplicationPad3d(1)(torch.randn(1, 2, 3, 3, 3)).shape
        torch.Size([1, 2, 5, 5, 5])
    """

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
    """Pads sequences with elements of the opposite side, as if they were periodic.

    Padding must not be larger than the size of the input.

    Args:
        padding: the width on all sides, or (left, right). Negative widths cut off elements

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, C, L') or (C, L'), each size larger by the widths of its two sides.

    Example:
        >>> nn.CircularPad1d(1)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[3., 1., 2., 3., 1.]])
    """

    _rank = 1


class CircularPad2d(_CircularPadNd):
    """Pads images with elements of the opposite side, as if they were periodic.

    Padding must not be larger than the size of the input.

    Args:
        padding: the width on all sides, or (left, right, top, bottom). Negative widths cut off elements

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C, H', W') or (C, H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.CircularPad2d(1)(torch.tensor([[[1.0, 2.0], [3.0, 4.0]]]))
        tensor([[[4., 3., 4., 3.],
                 [2., 1., 2., 1.],
                 [4., 3., 4., 3.],
                 [2., 1., 2., 1.]]])
    """

    _rank = 2


class CircularPad3d(_CircularPadNd):
    """Pads volumes with elements of the opposite side, as if they were periodic.

    Padding must not be larger than the size of the input.

    Args:
        padding: the width on all sides, or (left, right, top, bottom, front, back). Negative widths cut off
            elements

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, C, D', H', W') or (C, D', H', W'), each size larger by the widths of its two sides.

    Example:
        >>> nn.CircularPad3d(1)(torch.randn(1, 2, 3, 3, 3)).shape
        torch.Size([1, 2, 5, 5, 5])
    """

    _rank = 3
