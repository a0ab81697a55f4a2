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
    """Normalizes each channel of each sample of sequences (N, C, L) or (C, L): (x - mean) / sqrt(var + eps),
    times weight plus bias with `affine`."""

    _input_dims = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Normalizes each channel of each sample of images (N, C, H, W) or (C, H, W):
    (x - mean) / sqrt(var + eps), times weight plus bias with `affine`."""

    _input_dims = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Normalizes each channel of each sample of volumes (N, C, D, H, W) or (C, D, H, W): (x - mean) /
    sqrt(var + eps), times weight plus bias with `affine`."""

    _input_dims = (4, 5)


class _LazyInstanceNorm(_LazyNorm, _InstanceNorm):
    """An instance normalization that takes `num_features` from its first input."""

    def _channels(self, input: Tensor) -> int:
        return input.size(input.dim() - self._no_batch_dim())


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """An `InstanceNorm1d` that takes `num_features` from its first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """An `InstanceNorm2d` that takes `num_features` from its first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """An `InstanceNorm3d` that takes `num_features` from its first input."""

    cls_to_become = InstanceNorm3d
