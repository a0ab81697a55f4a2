"""Batch normalization (Ioffe & Szegedy 2015)."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.lazy import LazyModuleMixin
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter
from torch_py.types import Device, _dtype


class _NormBase(Module):
    """Weight, bias and running statistics of `num_features` channels, for batch and instance normalization.

    State dicts of version 2 contain `num_batches_tracked`. With `momentum` None the running statistics are
    the mean over all batches so far.
    """

    _version = 2
    _input_dims: tuple[int, ...]
    weight: Parameter | None
    bias: Parameter | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats

        for name, present in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(_torch.empty(num_features, device=device, dtype=dtype)) if present else None
            self.register_parameter(name, value)

        tracked = track_running_stats
        self.register_buffer(
            "running_mean", _torch.zeros(num_features, device=device, dtype=dtype) if tracked else None
        )
        self.register_buffer(
            "running_var", _torch.ones(num_features, device=device, dtype=dtype) if tracked else None
        )
        self.register_buffer(
            "num_batches_tracked", _torch.zeros((), device=device, dtype=_C.int64) if tracked else None
        )

        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Sets the running mean to 0, the running variance to 1 and the number of batches to 0."""
        if (
            self.running_mean is not None
            and self.running_var is not None
            and self.num_batches_tracked is not None
        ):
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self._input_dims:
            expected = " or ".join(f"{count}D" for count in self._input_dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        key = prefix + "num_batches_tracked"
        is_older = (local_metadata.get("version") or 1) < 2
        if is_older and self.num_batches_tracked is not None and key not in state_dict:
            state_dict[key] = self.num_batches_tracked
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    """Normalizes each channel: (x - mean) / sqrt(var + eps) * weight + bias, with the statistics of the batch
    in training and the running ones in evaluation."""

    def _step(self) -> float:
        """Counts the batch and returns the weight of its statistics in the running ones."""
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                return 1.0 / float(self.num_batches_tracked)
        return 0.0 if self.momentum is None else self.momentum

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)

        step = self._step()
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        running_mean = self.running_mean if tracked else None
        running_var = self.running_var if tracked else None
        return F.batch_norm(
            input, running_mean, running_var, self.weight, self.bias, by_batch, step, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Normalizes each channel of a batch of vectors or sequences:

        y = (x - mean) / √(var + eps) · weight + bias

    In training, mean and variance are those of the channel over the batch and all positions (divided by the
    number of elements), and the running statistics move towards them:

        running = (1 - momentum) · running + momentum · batch

    with the variance divided by one less than the number of elements. In evaluation, the running statistics
    are used.

    Source: Ioffe and Szegedy, Batch normalization (2015).

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; None takes the mean over all batches so
            far; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default True
        track_running_stats: whether to keep running statistics; without them, batches are normalized with
            their own statistics in evaluation too; default True
        device, dtype: those of the parameters
        bias: whether there is a bias in addition to the weight; default True

    Shape:
        Input: (N, C) or (N, C, L).
        Output: the same shape.
        weight, bias, running_mean, running_var: (C,).

    Raises:
        ValueError: the input has another number of dimensions, or, in training, one value per channel

    Example:
        >>> layer = nn.BatchNorm1d(3)
        >>> output = layer(torch.randn(8, 3))
        >>> output.shape
        torch.Size([8, 3])
        >>> layer.running_mean.shape
        torch.Size([3])
    """

    _input_dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalizes each channel of a batch of images:

        y = (x - mean) / √(var + eps) · weight + bias

    In training, mean and variance are those of the channel over the batch and all positions (divided by the
    number of elements), and the running statistics move towards them:

        running = (1 - momentum) · running + momentum · batch

    with the variance divided by one less than the number of elements. In evaluation, the running statistics
    are used.

    Source: Ioffe and Szegedy, Batch normalization (2015).

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; None takes the mean over all batches so
            far; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default True
        track_running_stats: whether to keep running statistics; without them, batches are normalized with
            their own statistics in evaluation too; default True
        device, dtype: those of the parameters
        bias: whether there is a bias in addition to the weight; default True

    Shape:
        Input: (N, C, H, W).
        Output: the same shape.
        weight, bias, running_mean, running_var: (C,).

    Raises:
        ValueError: the input has another number of dimensions, or, in training, one value per channel

    Example:
        >>> layer = nn.BatchNorm2d(3)
        >>> output = layer(torch.randn(8, 3, 16, 16))
        >>> output.shape
        torch.Size([8, 3, 16, 16])
        >>> layer.running_mean.shape
        torch.Size([3])
    """

    _input_dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Normalizes each channel of a batch of volumes:

        y = (x - mean) / √(var + eps) · weight + bias

    In training, mean and variance are those of the channel over the batch and all positions (divided by the
    number of elements), and the running statistics move towards them:

        running = (1 - momentum) · running + momentum · batch

    with the variance divided by one less than the number of elements. In evaluation, the running statistics
    are used.

    Source: Ioffe and Szegedy, Batch normalization (2015).

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; None takes the mean over all batches so
            far; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default True
        track_running_stats: whether to keep running statistics; without them, batches are normalized with
            their own statistics in evaluation too; default True
        device, dtype: those of the parameters
        bias: whether there is a bias in addition to the weight; default True

    Shape:
        Input: (N, C, D, H, W).
        Output: the same shape.
        weight, bias, running_mean, running_var: (C,).

    Raises:
        ValueError: the input has another number of dimensions, or, in training, one value per channel

    Example:
        >>> layer = nn.BatchNorm3d(3)
        >>> output = layer(torch.randn(8, 3, 8, 8, 8))
        >>> output.shape
        torch.Size([8, 3, 8, 8, 8])
        >>> layer.running_mean.shape
        torch.Size([3])
    """

    _input_dims = (5,)


class _LazyNorm(LazyModuleMixin, _NormBase):
    """A normalization that takes `num_features` from its first input."""

    weight: Any
    bias: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, present in (("weight", affine), ("bias", affine and bias)):
            if present:
                setattr(self, name, UninitializedParameter(device=device, dtype=dtype))
        if track_running_stats:
            for name in ("running_mean", "running_var"):
                self._buffers[name] = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _torch.zeros((), dtype=_C.int64, device=device)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def _channels(self, input: Tensor) -> int:
        return input.shape[1]

    def initialize_parameters(self, input: Tensor) -> None:
        self._check_input_dim(input)
        if self.has_uninitialized_params():
            self.num_features = self._channels(input)
            for value in (self.weight, self.bias, self.running_mean, self.running_var):
                if value is not None:
                    value.materialize((self.num_features,))  # type: ignore[union-attr]
            self.reset_parameters()

        # A state dict may have given the parameters their shapes already.
        if self.num_features == 0:
            known = (value.shape[0] for value in (self.weight, self.running_mean) if value is not None)
            self.num_features = next(known, self._channels(input))


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """A `BatchNorm1d` that takes `num_features` from its first input.

    Parameters and running statistics are uninitialized until the first call, which also turns the layer into
    a `BatchNorm1d`.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: those of `BatchNorm1d`

    Shape:
        Input: (N, C) or (N, C, L).
        Output: the same shape.

    Example:
        >>> layer = nn.LazyBatchNorm1d()
        >>> output = layer(torch.randn(4, 5, 16))
        >>> layer.num_features
        5
    """

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """A `BatchNorm2d` that takes `num_features` from its first input.

    Parameters and running statistics are uninitialized until the first call, which also turns the layer into
    a `BatchNorm2d`.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: those of `BatchNorm2d`

    Shape:
        Input: (N, C, H, W).
        Output: the same shape.

    Example:
        >>> layer = nn.LazyBatchNorm2d()
        >>> output = layer(torch.randn(4, 5, 16, 16))
        >>> layer.num_features
        5
    """

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """A `BatchNorm3d` that takes `num_features` from its first input.

    Parameters and running statistics are uninitialized until the first call, which also turns the layer into
    a `BatchNorm3d`.

    Args:
        eps, momentum, affine, track_running_stats, device, dtype, bias: those of `BatchNorm3d`

    Shape:
        Input: (N, C, D, H, W).
        Output: the same shape.

    Example:
        >>> layer = nn.LazyBatchNorm3d()
        >>> output = layer(torch.randn(4, 5, 8, 8, 8))
        >>> layer.num_features
        5
    """

    cls_to_become = BatchNorm3d


class SyncBatchNorm(_BatchNorm):
    """Batch normalization with the statistics of all processes of a group. Within one process, it is
    `BatchNorm1d` for inputs of any number of dimensions from two.

    Args:
        num_features: the number of channels C
        eps: what is added to the variance, so that it is not zero; default 1e-5
        momentum: the weight of a new batch in the running statistics; None takes the mean over all batches so
            far; default 0.1
        affine: whether to scale and shift with a learned weight and bias; default True
        track_running_stats: whether to keep running statistics and use them in evaluation; default True
        process_group: the processes that share statistics; default None
        device, dtype: those of the parameters
        bias: whether there is a bias in addition to the weight; default True

    Shape:
        Input: (N, C, ...).
        Output: the same shape.

    Example:
        >>> model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8))
        >>> nn.SyncBatchNorm.convert_sync_batchnorm(model)[1]
        SyncBatchNorm(8, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: object = None,
        device: Device = None,
        dtype: _dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: object = None) -> Module:
        """Returns `module` with its batch normalizations replaced by SyncBatchNorm."""
        result: Module = module
        if isinstance(module, (BatchNorm1d, BatchNorm2d, BatchNorm3d)):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
            )
            for name in ("weight", "bias"):
                result.register_parameter(name, getattr(module, name))
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(result, name, getattr(module, name))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))

        return result
