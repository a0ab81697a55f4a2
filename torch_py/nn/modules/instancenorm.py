"""Instance normalization (Ulyanov et al. 2016)."""

from __future__ import annotations

import warnings

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.batchnorm import _LazyNorm, _NormBase
from torch_py.types import Device, _dtype

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """Normalizes each channel of each sample: (x - mean) / sqrt(var + eps) * weight + bias."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _no_batch_dim(self) -> int:
        """Returns the number of dimensions of an input without a batch."""
        return self._input_dims[0]

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        feature_dim = input.dim() - self._no_batch_dim()
        if input.size(feature_dim) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={feature_dim} to match num_features "
                    f"({self.num_features}), but got: {input.size(feature_dim)}."
                )
            warnings.warn(
                f"input's size at dim={feature_dim} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if feature_dim == 0:
            return self._normalized(input.unsqueeze(0)).squeeze(0)

        return self._normalized(input)

    def _normalized(self, input: Tensor) -> Tensor:
        own = self.training or not self.track_running_stats
        momentum = self.momentum if self.momentum is not None else 0.0
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, own, momentum, self.eps
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalizes each channel of each sequence with its own statistics:

        y = (x - mean) / √(var + eps) · weight + bias

    Mean and variance are taken over the positions of one channel of one sequence, in training and, unless
    statistics are tracked, in evaluation.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization (2016).

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default False
        track_running_stats: whether to keep running statistics and use them in evaluation; default False
        device, dtype: those of the parameters
        bias: whether `affine` adds a bias in addition to the weight; default True

    Shape:
        Input: (N, C, L) or (C, L).
        Output: the same shape.
        weight, bias: (C,), or None.

    Raises:
        ValueError: the input has another number of dimensions, or, with its own statistics, one position

    Example:
        >>> nn.InstanceNorm1d(3)(torch.randn(2, 3, 16)).shape
        torch.Size([2, 3, 16])
    """

    _input_dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of each image with its own statistics:

        y = (x - mean) / √(var + eps) · weight + bias

    Mean and variance are taken over the positions of one channel of one image, in training and, unless
    statistics are tracked, in evaluation.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization (2016).

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default False
        track_running_stats: whether to keep running statistics and use them in evaluation; default False
        device, dtype: those of the parameters
        bias: whether `affine` adds a bias in addition to the weight; default True

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: the same shape.
        weight, bias: (C,), or None.

    Raises:
        ValueError: the input has another number of dimensions, or, with its own statistics, one position

    Example:
        >>> nn.InstanceNorm2d(3)(torch.randn(2, 3, 16, 16)).shape
        torch.Size([2, 3, 16, 16])
    """

    _input_dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of each volume with its own statistics:

        y = (x - mean) / √(var + eps) · weight + bias

    Mean and variance are taken over the positions of one channel of one volume, in training and, unless
    statistics are tracked, in evaluation.

    Source: Ulyanov, Vedaldi and Lempitsky, Instance normalization (2016).

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default False
        track_running_stats: whether to keep running statistics and use them in evaluation; default False
        device, dtype: those of the parameters
        bias: whether `affine` adds a bias in addition to the weight; default True

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: the same shape.
        weight, bias: (C,), or None.

    Raises:
        ValueError: the input has another number of dimensions, or, with its own statistics, one position

    Example:
        >>> nn.InstanceNorm3d(3)(torch.randn(2, 3, 8, 8, 8)).shape
        torch.Size([2, 3, 8, 8, 8])
    """

    _input_dims = (4, 5)


class _LazyInstanceNorm(_LazyNorm, _InstanceNorm):
    """An instance normalization that takes `num_features` from its first input."""

    def _channels(self, input: Tensor) -> int:
        return input.size(input.dim() - self._no_batch_dim())


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that takes `num_features` from its first input.

    Parameters and running statistics are uninitialized until the first call, which also turns the layer into
    an `InstanceNorm1d`.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: those of `InstanceNorm1d`

    Shape:
        Input: (N, C, L) or (C, L).
        Output: the same shape.

    Example:
        >>> layer = nn.LazyInstanceNorm1d()
        >>> output = layer(torch.randn(4, 5, 16))
        >>> layer.num_features
        5
    """

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that takes `num_features` from its first input.

    Parameters and running statistics are uninitialized until the first call, which also turns the layer into
    an `InstanceNorm2d`.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: those of `InstanceNorm2d`

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: the same shape.

    Example:
        >>> layer = nn.LazyInstanceNorm2d()
        >>> output = layer(torch.randn(4, 5, 16, 16))
        >>> layer.num_features
        5
    """

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that takes `num_features` from its first input.

    Parameters and running statistics are uninitialized until the first call, which also turns the layer into
    an `InstanceNorm3d`.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: those of `InstanceNorm3d`

    Shape:
        Input: (N, C, D, H, W) or (C, D, H, W).
        Output: the same shape.

    Example:
        >>> layer = nn.LazyInstanceNorm3d()
        >>> output = layer(torch.randn(4, 5, 8, 8, 8))
        >>> layer.num_features
        5
    """

    cls_to_become = InstanceNorm3d
