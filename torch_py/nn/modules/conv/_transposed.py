"""Transposed convolution layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.conv._base import _ConvNd
from torch_py.nn.modules.utils import _ntuple
from torch_py.types import Device, _dtype

__all__ = ["ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution over `_rank` dimensions, computed by `_function`."""

    _rank: int
    _function: Callable[..., Tensor]
    padding: tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: int | Sequence[int] = 1,
        padding_mode: str = "zeros",
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')

        each = _ntuple(self._rank)
        super().__init__(
            in_channels,
            out_channels,
            each(kernel_size),
            each(stride),
            each(padding),
            each(dilation),
            True,
            each(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """Returns the output padding that gives `output_size`, which may include the batch and channel sizes.

        Raises ValueError if none does.
        """
        if output_size is None:
            return self.output_padding

        # The spatial sizes asked for.
        rank = self._rank
        leading = input.dim() - rank
        wanted = [int(size) for size in output_size]
        if len(wanted) == leading + rank:
            wanted = wanted[leading:]
        if len(wanted) != rank:
            raise ValueError(
                f"ConvTranspose{rank}D: for {input.dim()}D input, output_size must have {rank} or "
                f"{leading + rank} elements (got {len(wanted)})"
            )

        # Sizes for an output padding of 0 and of one less than the stride.
        smallest = [
            (int(input.shape[leading + d]) - 1) * self.stride[d]
            - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(rank)
        ]
        largest = [size + step - 1 for size, step in zip(smallest, self.stride)]

        for size, low, high in zip(wanted, smallest, largest):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {wanted}, but valid sizes range from {smallest} to "
                    f"{largest} (for an input of {tuple(input.shape[2:])})"
                )

        return tuple(size - low for size, low in zip(wanted, smallest))

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        extra = self._output_padding(input, output_size)
        convolve = type(self)._function
        return convolve(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation
        )


class ConvTranspose1d(_ConvTransposeNd):
    """Applies a transposed convolution to sequences: the gradient of `Conv1d` with respect to its input, as a
    layer.

    It maps shapes of outputs of a `Conv1d` with the same arguments to shapes of its inputs, and so enlarges
    by `stride`. Every element of the input adds a copy of the filter, times the element, to the output.

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of channels O of the output
        kernel_size: the size of the filters: an integer
        stride: the distance between two copies of the filter; default 1
        padding: the width that is cut off on both sides of each spatial dimension; default 0
        output_padding: the size added at the end of each spatial dimension of the output, as several input
            sizes of a convolution with stride give the same output size; default 0
        groups: the number of groups into which channels are split; default 1
        bias: whether to add a learned bias to each output channel; default True
        dilation: the distance between two elements of the filter; default 1
        padding_mode: only 'zeros'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, L) or (C, L).
        Output: (N, O, L') or (O, L'), where each size is (size - 1) · stride - 2 · padding + dilation ·
            (kernel_size - 1) + output_padding + 1.
        weight: (C, O / groups, K).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or `padding_mode` is not 'zeros'

    Example:
        >>> layer = nn.ConvTranspose1d(8, 3, kernel_size=4, stride=2, padding=1)
        >>> layer(torch.randn(4, 8, 16)).shape
        torch.Size([4, 3, 32])
    """

    _rank = 1
    _function = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Applies a transposed convolution to images: the gradient of `Conv2d` with respect to its input, as a
    layer.

    It maps shapes of outputs of a `Conv2d` with the same arguments to shapes of its inputs, and so enlarges
    by `stride`. Every element of the input adds a copy of the filter, times the element, to the output.

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of channels O of the output
        kernel_size: the size of the filters: an integer, or (height, width)
        stride: the distance between two copies of the filter; default 1
        padding: the width that is cut off on both sides of each spatial dimension; default 0
        output_padding: the size added at the end of each spatial dimension of the output, as several input
            sizes of a convolution with stride give the same output size; default 0
        groups: the number of groups into which channels are split; default 1
        bias: whether to add a learned bias to each output channel; default True
        dilation: the distance between two elements of the filter; default 1
        padding_mode: only 'zeros'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: (N, O, H', W') or (O, H', W'), where each size is (size - 1) · stride - 2 · padding + dilation
            · (kernel_size - 1) + output_padding + 1.
        weight: (C, O / groups, KH, KW).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or `padding_mode` is not 'zeros'

    Example:
        >>> layer = nn.ConvTranspose2d(8, 3, kernel_size=4, stride=2, padding=1)
        >>> layer(torch.randn(4, 8, 16, 16)).shape
        torch.Size([4, 3, 32, 32])
    """

    _rank = 2
    _function = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Applies a transposed convolution to volumes: the gradient of `Conv3d` with respect to its input, as a
    layer.

    It maps shapes of outputs of a `Conv3d` with the same arguments to shapes of its inputs, and so enlarges
    by `stride`. Every element of the input adds a copy of the filter, times the element, to the output.

    Args:
        in_channels: the number of channels C of the input
        out_channels: the number of channels O of the output
        kernel_size: the size of the filters: an integer, or (depth, height, width)
        stride: the distance between two copies of the filter; default 1
        padding: the width that is cut off on both sides of each spatial dimension; default 0
        output_padding: the size added at the end of each spatial dimension of the output, as several input
            sizes of a convolution with stride give the same output size; default 0
        groups: the number of groups into which channels are split; default 1
        bias: whether to add a learned bias to each output channel; default True
        dilation: the distance between two elements of the filter; default 1
        padding_mode: only 'zeros'
        device, dtype: those of the parameters

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: (N, O, D', H', W') or (O, D', H', W'), where each size is (size - 1) · stride - 2 · padding +
            dilation · (kernel_size - 1) + output_padding + 1.
        weight: (C, O / groups, KD, KH, KW).
        bias: (O,), or None.

    Raises:
        ValueError: `groups` does not divide both numbers of channels, or `padding_mode` is not 'zeros'

    Example:
        >>> layer = nn.ConvTranspose3d(8, 3, kernel_size=4, stride=2, padding=1)
        >>> layer(torch.randn(4, 8, 8, 8, 8)).shape
        torch.Size([4, 3, 16, 16, 16])
    """

    _rank = 3
    _function = staticmethod(F.conv_transpose3d)
