"""Modules whose parameters have the mkldnn layout, for inference; see docs/mkldnn.md.

The layout brings compatibility, not speed: `module.to(memory_format=torch.channels_last)` is as fast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C, nn
from torch_py._tensor import Tensor
from torch_py.nn import functional as F

_REORDERED: dict[int, Callable[..., Tensor]] = {
    2: _C._nn.mkldnn_reorder_conv2d_weight,
    3: _C._nn.mkldnn_reorder_conv3d_weight,
}


def _converted(tensor: Any, dtype: Any = _C.float32) -> Tensor:
    """A copy of a parameter with the mkldnn layout, without history."""
    return tensor.detach().to_mkldnn(dtype)


class _MkldnnModule(nn.Module):
    """A module whose tensors are buffers of the mkldnn layout. Pickles and copies hold them as strided
    tensors."""

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_buffers"] = {
            name: buffer.to_dense() if buffer is not None and buffer.is_mkldnn else buffer
            for name, buffer in self._buffers.items()
        }
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = buffer.to_mkldnn()


def _through_mkldnn(function: Callable[[Any], Any], x: Any) -> Tensor:
    """`function` of `x`, which it takes with the mkldnn layout; the result has the layout of `x`."""
    return function(x) if x.is_mkldnn else function(x.to_mkldnn()).to_dense()


class MkldnnLinear(_MkldnnModule):
    """`nn.Linear` with parameters of the mkldnn layout; a strided input gives a strided result."""

    weight: Tensor
    bias: Tensor

    def __init__(self, dense_module: nn.Linear, dtype: Any) -> None:
        super().__init__()
        bias = dense_module.bias
        if bias is None:
            bias = dense_module.weight.detach().new_zeros(dense_module.weight.size(0))
        self.register_buffer("weight", _converted(dense_module.weight, dtype))
        self.register_buffer("bias", _converted(bias, dtype))

    def forward(self, x: Tensor) -> Tensor:
        return _through_mkldnn(lambda given: F.linear(given, self.weight, self.bias), x)


class _MkldnnConvolution(_MkldnnModule):
    """A convolution with parameters of the mkldnn layout, over inputs of this layout."""

    weight: Tensor
    bias: Tensor | None
    _dims = 0
    _convolve: Callable[..., Tensor]

    def __init__(self, dense_module: Any, dtype: Any) -> None:
        super().__init__()
        if dense_module.padding_mode != "zeros" or isinstance(dense_module.padding, str):
            raise NotImplementedError(
                f"{type(self).__name__}: expected padding with zeros by numbers, got "
                f"padding_mode={dense_module.padding_mode!r}, padding={dense_module.padding!r}"
            )
        self.stride = dense_module.stride
        self.padding = dense_module.padding
        self.dilation = dense_module.dilation
        self.groups = dense_module.groups

        weight = _converted(dense_module.weight, dtype)
        if self._dims in _REORDERED:
            weight = _REORDERED[self._dims](weight, self.padding, self.stride, self.dilation, self.groups)
        self.register_buffer("weight", weight)
        has_bias = dense_module.bias is not None
        self.register_buffer("bias", _converted(dense_module.bias, dtype) if has_bias else None)

    def forward(self, x: Tensor) -> Tensor:
        convolve = type(self)._convolve
        return convolve(x, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups)


class MkldnnConv1d(_MkldnnConvolution):
    """`nn.Conv1d` with parameters of the mkldnn layout."""

    _dims = 1
    _convolve = staticmethod(F.conv1d)


class MkldnnConv2d(_MkldnnConvolution):
    """`nn.Conv2d` with parameters of the mkldnn layout."""

    _dims = 2
    _convolve = staticmethod(F.conv2d)


class MkldnnConv3d(_MkldnnConvolution):
    """`nn.Conv3d` with parameters of the mkldnn layout."""

    _dims = 3
    _convolve = staticmethod(F.conv3d)


class MkldnnBatchNorm(_MkldnnModule):
    """`nn.BatchNorm2d` or `nn.BatchNorm3d` in evaluation mode, with tensors of the mkldnn layout."""

    weight: Tensor
    bias: Tensor
    running_mean: Tensor
    running_var: Tensor

    def __init__(self, dense_module: Any) -> None:
        super().__init__()
        if dense_module.training:
            raise AssertionError("Only support eval mode batchnorm for mkldnn path now")
        if not dense_module.track_running_stats:
            raise AssertionError("Only support track_running_stats=True for mkldnn path now")
        if not dense_module.affine:
            raise AssertionError("Only support affine=True for mkldnn path now")

        self.exponential_average_factor = 0.0 if dense_module.momentum is None else dense_module.momentum
        self.eps = dense_module.eps
        for name in ("weight", "bias", "running_mean", "running_var"):
            self.register_buffer(name, _converted(getattr(dense_module, name)))

    def forward(self, x: Tensor) -> Tensor:
        return F.batch_norm(
            x,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            False,
            self.exponential_average_factor,
            self.eps,
        )


class MkldnnPrelu(_MkldnnModule):
    """`nn.PReLU` with a weight of the mkldnn layout; a strided input gives a strided result."""

    weight: Tensor

    def __init__(self, dense_module: nn.PReLU, dtype: Any) -> None:
        super().__init__()
        self.register_buffer("weight", _converted(dense_module.weight, dtype))

    def forward(self, x: Tensor) -> Tensor:
        return _through_mkldnn(lambda given: F.prelu(given, self.weight), x)


def _counterpart(module: nn.Module, dtype: Any) -> nn.Module:
    """The module of this file that replaces `module`; `module` itself if it has no such counterpart."""
    if isinstance(module, nn.Linear):
        return MkldnnLinear(module, dtype)
    if isinstance(module, nn.Conv1d):
        return MkldnnConv1d(module, dtype)
    if isinstance(module, nn.Conv2d):
        return MkldnnConv2d(module, dtype)
    if isinstance(module, nn.Conv3d):
        return MkldnnConv3d(module, dtype)
    if isinstance(module, (nn.BatchNorm2d, nn.BatchNorm3d)):
        return MkldnnBatchNorm(module)  # its parameters stay float32
    return MkldnnPrelu(module, dtype) if isinstance(module, nn.PReLU) else module


def to_mkldnn(module: nn.Module, dtype: Any = _C.float32) -> nn.Module:
    """A copy of `module`'s tree in which layers have parameters of the mkldnn layout, for inference.

    Converts Linear, Conv1d to Conv3d, BatchNorm2d and BatchNorm3d (in evaluation mode) and PReLU; other
    modules without parameters work on both layouts or are errors when they run.

    Args:
        module: the module to convert; it is not changed.
        dtype: float32, bfloat16 or float16, the dtype of the converted parameters. Those of batch
            normalization are float32 always.

    Raises:
        AssertionError: for another dtype, and for batch normalization in training.
    """
    if dtype not in (_C.float32, _C.bfloat16, _C.float16):
        raise AssertionError("MKLDNN only support float, bfloat16, and half path now")

    new = _counterpart(module, dtype)
    if new is not module:
        return new

    # A copy of the container, with the same tensors of its own and converted children.
    result = module.__class__.__new__(module.__class__)
    result.__dict__.update(module.__dict__)
    result.__dict__["_modules"] = {
        name: None if child is None else to_mkldnn(child, dtype) for name, child in module._modules.items()
    }
    return result
