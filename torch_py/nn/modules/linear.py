"""Linear, bilinear and identity layers."""

from __future__ import annotations

import math
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.lazy import LazyModuleMixin
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter, UninitializedParameter
from torch_py.types import Device, _dtype


class Identity(Module):
    """Returns its input unchanged. It takes the place of a layer that is to be left out of a model.

    Args:
        arguments, keywords: anything; ignored, so that the arguments of the layer that it replaces can stay

    Shape:
        Input: any shape.
        Output: the input itself.

    Example:
        >>> layer = nn.Identity(20, bias=False)
        >>> layer(torch.tensor([1.0, 2.0]))
        tensor([1., 2.])
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Linear(Module):
    """Applies an affine map to the last dimension of the input:

        y = x · weightᵀ + bias

    Weight and bias start with uniform random numbers from ±1 / √in_features.

    Args:
        in_features: the size of the last dimension of the input
        out_features: the size of the last dimension of the output
        bias: whether to add a learned bias; default True
        device, dtype: those of the parameters

    Shape:
        Input: (..., in_features), of the dtype of the weight.
        Output: (..., out_features).
        weight: (out_features, in_features).
        bias: (out_features,), or None.

    Raises:
        RuntimeError: the last dimension of the input is not `in_features`, or its dtype is not that of the
            weight

    Example:
        >>> layer = nn.Linear(3, 5)
        >>> layer(torch.randn(2, 3)).shape
        torch.Size([2, 5])
        >>> layer.weight.shape
        torch.Size([5, 3])
    """

    bias: Parameter | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_torch.empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_torch.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` that takes `in_features` from the last dimension of its first input.

    Until the first call its parameters are uninitialized; call the model once before it is given to an
    optimizer.

    Args:
        out_features: the size of the last dimension of the output
        bias: whether to add a learned bias; default True
        device, dtype: those of the parameters

    Shape:
        Input: (..., in_features).
        Output: (..., out_features).

    Example:
        >>> layer = nn.LazyLinear(4)
        >>> layer(torch.randn(2, 7)).shape
        torch.Size([2, 4])
        >>> layer
        Linear(in_features=7, out_features=4, bias=True)
    """

    cls_to_become = Linear
    # Uninitialized parameters until the first forward.
    weight: Any
    bias: Any

    def __init__(
        self, out_features: int, bias: bool = True, device: Device = None, dtype: _dtype | None = None
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Gives the parameters their shapes."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()

        # A state dict may have given the parameters their shapes already.
        if self.in_features == 0:
            self.in_features = self.weight.shape[-1]


class NonDynamicallyQuantizableLinear(Linear):
    """A `Linear` under PyTorch's name for the output projection of attention."""


class Bilinear(Module):
    """Applies a bilinear map to pairs of vectors:

        y[k] = x₁ · weight[k] · x₂ᵀ + bias[k]

    Weight and bias start with uniform random numbers from ±1 / √in1_features.

    Args:
        in1_features: the size of the last dimension of the first input; at least 1
        in2_features: the size of the last dimension of the second input
        out_features: the size of the last dimension of the output
        bias: whether to add a learned bias; default True
        device, dtype: those of the parameters

    Shape:
        Input: (..., in1_features) and (..., in2_features), with the same leading dimensions.
        Output: (..., out_features).
        weight: (out_features, in1_features, in2_features).
        bias: (out_features,), or None.

    Raises:
        ValueError: `in1_features` is not positive

    Example:
        >>> layer = nn.Bilinear(3, 4, 5)
        >>> layer(torch.randn(2, 3), torch.randn(2, 4)).shape
        torch.Size([2, 5])
    """

    bias: Parameter | None

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")

        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(
            _torch.empty((out_features, in1_features, in2_features), device=device, dtype=dtype)
        )
        self.register_parameter(
            "bias", Parameter(_torch.empty(out_features, device=device, dtype=dtype)) if bias else None
        )

        self.reset_parameters()

    def reset_parameters(self) -> None:
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )
