"""Sliding windows of images as columns, and back."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Adds columns of sliding windows up to images. It is the transpose of `Unfold`: where windows overlap,
    their elements are summed.

    Args:
        output_size: the size of the images: an integer, or (height, width)
        kernel_size: the size of the windows: an integer, or (height, width)
        dilation: the distance between two elements of a window; default 1
        padding: the width of the margin of the images that windows reach into; default 0
        stride: the distance between two windows; default 1

    Shape:
        Input: (N, C · KH · KW, windows) or (C · KH · KW, windows).
        Output: (N, C, H, W) or (C, H, W).

    Example:
        >>> columns = torch.ones(1, 4, 4)
        >>> nn.Fold(output_size=3, kernel_size=2)(columns)
        tensor([[[[1., 2., 1.],
                  [2., 4., 2.],
                  [1., 2., 1.]]]])
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self,
        output_size: int | Sequence[int],
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, dilation={self.dilation}, "
            f"padding={self.padding}, stride={self.stride}"
        )


class Unfold(Module):
    """Extracts the sliding windows of images as columns, which turns a convolution into a product of
    matrices.

    Args:
        kernel_size: the size of the windows: an integer, or (height, width)
        dilation: the distance between two elements of a window; default 1
        padding: the width of zeros added on all sides; default 0
        stride: the distance between two windows; default 1

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, C · KH · KW, windows) or (C · KH · KW, windows), with as many windows as the convolution
            has positions.

    Example:
        >>> image = torch.arange(9.0).reshape(1, 1, 3, 3)
        >>> nn.Unfold(kernel_size=2)(image)
        tensor([[[0., 1., 3., 4.],
                 [1., 2., 4., 5.],
                 [3., 4., 6., 7.],
                 [4., 5., 7., 8.]]])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        dilation: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        stride: int | Sequence[int] = 1,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )
