"""Normalization within one sample."""

from __future__ import annotations

from collections.abc import Sequence

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype


class LayerNorm(Module):
    """Normalizes each sample over its last dimensions:

        y = (x - mean) / √(var + eps) · weight + bias

    Mean and variance (divided by the number of elements) are those of the last dimensions, in training and
    evaluation alike.

    Source: Ba, Kiros and Hinton, Layer normalization (2016).

    Args:
        normalized_shape: the sizes of the last dimensions; an integer for one
        eps: what is added to the variance, so that it is not zero; default 1e-5
        elementwise_affine: whether to scale and shift with a learned weight and bias; default True
        bias: whether there is a bias in addition to the weight; default True
        device, dtype: those of the parameters

    Shape:
        Input: (..., *normalized_shape).
        Output: the same shape.
        weight, bias: normalized_shape, or None.

    Raises:
        RuntimeError: the last dimensions of the input are not `normalized_shape`

    Example:
        >>> nn.LayerNorm(3)(torch.tensor([[1.0, 2.0, 3.0]]))
        tensor([[-1.2247,  0.0000,  1.2247]], grad_fn=<LayerNormBackward0>)
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps = eps
        self.elementwise_affine = elementwise_affine

        for name, present in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            value = (
                Parameter(_torch.empty(self.normalized_shape, device=device, dtype=dtype))
                if present
                else None
            )
            self.register_parameter(name, value)

        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class GroupNorm(Module):
    """Normalizes groups of channels of each sample:

        y = (x - mean) / √(var + eps) · weight + bias

    Mean and variance are taken over the channels of a group and all positions. One group is `LayerNorm` over
    channels and positions; as many groups as channels are an instance normalization.

    Source: Wu and He, Group normalization (2018).

    Args:
        num_groups: the number of groups, which must divide `num_channels`
        num_channels: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        affine: whether to scale and shift each channel with a learned weight and bias; default True
        device, dtype: those of the parameters
        bias: whether there is a bias in addition to the weight; default True

    Shape:
        Input: (N, C, ...).
        Output: the same shape.
        weight, bias: (C,), or None.

    Raises:
        ValueError: `num_groups` does not divide `num_channels`

    Example:
        >>> nn.GroupNorm(2, 6)(torch.randn(4, 6, 8, 8)).shape
        torch.Size([4, 6, 8, 8])
    """

    weight: Parameter | None
    bias: Parameter | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")

        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, present in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(
                name, Parameter(_torch.empty(num_channels, device=device, dtype=dtype)) if present else None
            )

        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """Divides by the root mean square of the last dimensions:

        y = x / √(mean(x²) + eps) · weight

    Source: Zhang and Sennrich, Root mean square layer normalization (2019).

    Args:
        normalized_shape: the sizes of the last dimensions; an integer for one
        eps: what is added to the mean square; default None, the spacing of numbers at 1 in the dtype of the
            computation
        elementwise_affine: whether to scale with a learned weight; default True
        device, dtype: those of the weight

    Shape:
        Input: (..., *normalized_shape).
        Output: the same shape.
        weight: normalized_shape, or None.

    Example:
        >>> nn.RMSNorm(2)(torch.tensor([[3.0, 4.0]]))
        tensor([[0.8485, 1.1314]], grad_fn=<MulBackward0>)
    """

    weight: Parameter | None

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = (
            (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        )
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = (
            Parameter(_torch.empty(self.normalized_shape, device=device, dtype=dtype))
            if elementwise_affine
            else None
        )
        self.register_parameter("weight", weight)

        self.reset_parameters()

    def reset_parameters(self) -> None:
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class LocalResponseNorm(Module):
    """Divides each channel by a power of the mean square of its neighbors:

        y = x / (k + alpha · mean(x²))^beta

    The mean is over `size` neighboring channels, with zeros beyond the first and the last.

    Source: Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural networks
    (2012).

    Args:
        size: the number of channels in the mean
        alpha: default 1e-4
        beta: default 0.75
        k: default 1.0

    Shape:
        Input: (N, C, ...).
        Output: the same shape.

    Example:
        >>> nn.LocalResponseNorm(2)(torch.ones(1, 4, 2, 2)).shape
        torch.Size([1, 4, 2, 2])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(Module):
    """An older form of `LocalResponseNorm` for images.

    As in PyTorch, the first channel stays in the sums of all later ones.

    Args:
        size: the number of neighboring channels in the sums
        alpha: the factor of their mean square; default 1e-4
        beta: the exponent of the divisor; default 0.75
        k: what is added to the divisor; default 1

    Shape:
        Input: (N, C, H, W).
        Output: the same shape.

    Raises:
        ValueError: the input does not have 4 dimensions

    Example:
        >>> nn.CrossMapLRN2d(2)(torch.ones(1, 4, 2, 2)).shape
        torch.Size([1, 4, 2, 2])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")

        reach = int((self.size - 1) / 2 + 1)  # channels on either side, including the channel itself
        squares = input * input
        sums = F.pad(squares, (0, 0, 0, 0, reach - 1, reach - 1)).unfold(1, 2 * reach - 1, 1).sum(-1)
        later = input.size(1) - reach
        if later > 0:
            first = squares[:, :1].expand(-1, later, -1, -1)
            sums = sums + F.pad(first, (0, 0, 0, 0, reach, 0))

        return input * (sums * (self.alpha / self.size) + self.k).pow(-self.beta)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
