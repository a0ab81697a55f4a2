"""Activation functions as modules. The formulas are repeated in `nn.functional`."""

from __future__ import annotations

import warnings

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype


class _InPlace(Module):
    """An activation whose only setting is whether it overwrites its input."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class ReLU(_InPlace):
    """Applies the rectified linear unit to every element:

        ReLU(x) = max(x, 0)

    Args:
        inplace: whether to overwrite the input instead of making a new tensor; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.ReLU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class SiLU(_InPlace):
    """Applies the sigmoid linear unit, also called swish, to every element:

        SiLU(x) = x / (1 + exp(-x))

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.SiLU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2689,  0.0000,  1.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.silu(input, self.inplace)


class Mish(_InPlace):
    """Applies Mish, a smooth function that lets small negative values through, to every element:

        Mish(x) = x · tanh(log(1 + exp(x)))

    Source: Misra, Mish: a self regularized non-monotonic activation function (2019).

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Mish()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.3034,  0.0000,  1.9440])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.mish(input, self.inplace)


class Hardswish(_InPlace):
    """Applies a piecewise approximation of `SiLU` that needs no exponential to every element:

        Hardswish(x) = 0                  if x <= -3
                       x                  if x >= 3
                       x · (x + 3) / 6    between

    Source: Howard et al., Searching for MobileNetV3 (2019).

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardswish()(torch.tensor([-1.0, 1.0, 4.0]))
        tensor([-0.3333,  0.6667,  4.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardswish(input, self.inplace)


class Sigmoid(Module):
    """Applies the logistic function, which maps real numbers to (0, 1), to every element:

        Sigmoid(x) = 1 / (1 + exp(-x))

    Shape:
        Input: any shape.
        Output: the same shape; integer inputs give floating-point results.

    Example:
        >>> nn.Sigmoid()(torch.tensor([-2.0, 0.0, 2.0]))
        tensor([0.1192, 0.5000, 0.8808])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.sigmoid(input)


class Tanh(Module):
    """Applies the hyperbolic tangent, which maps real numbers to (-1, 1), to every element:

        Tanh(x) = (exp(x) - exp(-x)) / (exp(x) + exp(-x))

    Shape:
        Input: any shape.
        Output: the same shape; integer inputs give floating-point results.

    Example:
        >>> nn.Tanh()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-0.7616,  0.0000,  0.7616])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanh(input)


class LogSigmoid(Module):
    """Applies the logarithm of the logistic function to every element, accurately for large negative inputs
    too:

        LogSigmoid(x) = -log(1 + exp(-x))

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.LogSigmoid()(torch.tensor([-20.0, 0.0, 5.0]))
        tensor([-2.0000e+01, -6.9315e-01, -6.7153e-03])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.logsigmoid(input)


class GELU(Module):
    """Applies the Gaussian error linear unit to every element:

        GELU(x) = x · Φ(x)

    Φ is the cumulative distribution function of the standard normal distribution. With `approximate='tanh'`
    it is replaced by

        Φ(x) ≈ (1 + tanh(√(2 / π) · (x + 0.044715 · x³))) / 2

    Source: Hendrycks and Gimpel, Gaussian error linear units (2016).

    Args:
        approximate: 'none' (default) for the exact formula, 'tanh' for the approximation

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.GELU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.1587,  0.0000,  1.9545])
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Tensor) -> Tensor:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class LeakyReLU(Module):
    """Applies a rectified linear unit with a small slope for negative inputs to every element:

        LeakyReLU(x) = x                     if x > 0
                       negative_slope · x    otherwise

    Args:
        negative_slope: the slope for negative inputs; default 0.01
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.LeakyReLU(0.1)(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.1000,  0.0000,  2.0000])
    """

    def __init__(self, negative_slope: float = 0.01, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class ELU(Module):
    """Applies the exponential linear unit to every element:

        ELU(x) = x                       if x > 0
                 alpha · (exp(x) - 1)    otherwise

    Source: Clevert, Unterthiner and Hochreiter, Fast and accurate deep network learning by exponential linear
    units (2015).

    Args:
        alpha: minus the limit for x towards -∞; default 1.0
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.ELU()(torch.tensor([-2.0, 0.0, 2.0]))
        tensor([-0.8647,  0.0000,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.elu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class Softplus(Module):
    """Applies a smooth approximation of ReLU, always positive, to every element:

        Softplus(x) = log(1 + exp(beta · x)) / beta

    The result is x itself where `beta · x > threshold`: there the difference is too small to matter.

    Args:
        beta: how closely the function follows ReLU; default 1.0
        threshold: the value of beta · x above which the function is linear; default 20.0

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Softplus()(torch.tensor([-2.0, 0.0, 30.0]))
        tensor([ 0.1269,  0.6931, 30.0000])
    """

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Hardtanh(Module):
    """Limits every element to an interval:

        Hardtanh(x) = min_val    if x < min_val
                      max_val    if x > max_val
                      x          between

    Args:
        min_val: the lower limit; default -1.0
        max_val: the upper limit, greater than `min_val`; default 1.0
        inplace: whether to overwrite the input; default False
        min_value: the former name of `min_val`, with a FutureWarning
        max_value: the former name of `max_val`, with a FutureWarning

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardtanh(-2.0, 2.0)(torch.tensor([-3.0, 0.5, 7.0]))
        tensor([-2.0000,  0.5000,  2.0000])
    """

    def __init__(
        self,
        min_val: float = -1.0,
        max_val: float = 1.0,
        inplace: bool = False,
        min_value: float | None = None,
        max_value: float | None = None,
    ) -> None:
        super().__init__()
        for older, value in (("min_value", min_value), ("max_value", max_value)):
            if value is not None:
                newer = older.removesuffix("ue")
                warnings.warn(
                    f"keyword argument `{older}` is deprecated and renamed to `{newer}`",
                    FutureWarning,
                    stacklevel=2,
                )

        min_val = min_val if min_value is None else min_value
        max_val = max_val if max_value is None else max_value
        if max_val <= min_val:
            raise AssertionError(f"max_val ({max_val}) must be greater than min_val ({min_val})")

        self.min_val = min_val
        self.max_val = max_val
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


class ReLU6(Hardtanh):
    """Limits every element to [0, 6]:

        ReLU6(x) = min(max(x, 0), 6)

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.ReLU6()(torch.tensor([-1.0, 3.0, 8.0]))
        tensor([0., 3., 6.])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class _AlongDim(Module):
    """An activation along one dimension."""

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax(_AlongDim):
    """Turns scores into probabilities, positive numbers with sum 1, along one dimension:

        Softmax(x)ᵢ = exp(xᵢ) / Σⱼ exp(xⱼ)

    Args:
        dim: the dimension along which the results sum to 1. With None, the default, it is 0 for inputs of 0,
            1 or 3 dimensions and 1 for others, with a warning

    Shape:
        Input: any shape.
        Output: the same shape, with values in [0, 1].

    Example:
        >>> nn.Softmax(dim=1)(torch.tensor([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]))
        tensor([[0.0900, 0.2447, 0.6652],
                [0.3333, 0.3333, 0.3333]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmax(input, self.dim)


class LogSoftmax(_AlongDim):
    """Computes the logarithm of the softmax along one dimension, without overflow:

        LogSoftmax(x)ᵢ = xᵢ - log(Σⱼ exp(xⱼ))

    It is more accurate and faster than the logarithm of `Softmax`, and is what `NLLLoss` expects.

    Args:
        dim: the dimension along which the exponentials of the results sum to 1. With None, the default, it is
            0 for inputs of 0, 1 or 3 dimensions and 1 for others, with a warning

    Shape:
        Input: any shape.
        Output: the same shape, with values in [-∞, 0].

    Example:
        >>> nn.LogSoftmax(dim=1)(torch.tensor([[0.0, 1.0, 2.0]]))
        tensor([[-2.4076, -1.4076, -0.4076]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.log_softmax(input, self.dim)


class Softmin(_AlongDim):
    """Turns scores into probabilities of which the lowest score has the greatest, along one dimension:

        Softmin(x)ᵢ = exp(-xᵢ) / Σⱼ exp(-xⱼ)

    Args:
        dim: the dimension along which the results sum to 1. With None, the default, it is 0 for inputs of 0,
            1 or 3 dimensions and 1 for others, with a warning

    Shape:
        Input: any shape.
        Output: the same shape, with values in [0, 1].

    Example:
        >>> nn.Softmin(dim=0)(torch.tensor([0.0, 1.0, 2.0]))
        tensor([0.6652, 0.2447, 0.0900])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softmin(input, self.dim)


class Softmax2d(Module):
    """Computes the softmax over the channels at every position of an image.

    Shape:
        Input: (N, C, H, W) or (C, H, W).
        Output: the same shape; the values over C sum to 1.

    Raises:
        ValueError: the input does not have 3 or 4 dimensions

    Example:
        >>> images = torch.randn(2, 3, 4, 4)
        >>> nn.Softmax2d()(images).sum(dim=1).shape
        torch.Size([2, 4, 4])
    """

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3)


class GLU(Module):
    """Multiplies the first half of the input along one dimension by the sigmoid of the second half:

        GLU(a, b) = a · sigmoid(b)

    Source: Dauphin et al., Language modeling with gated convolutional networks (2016).

    Args:
        dim: the dimension that is halved; default -1. Its size must be even

    Shape:
        Input: (..., 2 · n, ...).
        Output: (..., n, ...).

    Example:
        >>> nn.GLU()(torch.tensor([1.0, 2.0, 0.0, 100.0]))
        tensor([0.5000, 2.0000])
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class CELU(Module):
    """Applies an exponential linear unit whose derivative is continuous for every alpha to every element:

        CELU(x) = x                               if x > 0
                  alpha · (exp(x / alpha) - 1)    otherwise

    Source: Barron, Continuously differentiable exponential linear units (2017).

    Args:
        alpha: minus the limit for x towards -∞, not 0; default 1.0
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.CELU(2.0)(torch.tensor([-2.0, 0.0, 2.0]))
        tensor([-1.2642,  0.0000,  2.0000])
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.celu(input, self.alpha, self.inplace)

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class SELU(_InPlace):
    """Applies a scaled exponential linear unit to every element:

        SELU(x) = scale · x                       if x > 0
                  scale · alpha · (exp(x) - 1)    otherwise

    With alpha = 1.6732632423543772 and scale = 1.0507009873554805, activations keep mean 0 and variance 1
    from layer to layer. Initialize such layers with `init.kaiming_normal_(weight, nonlinearity='linear')`,
    and drop activations with `AlphaDropout`.

    Source: Klambauer et al., Self-normalizing neural networks (2017).

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.SELU()(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([-1.1113,  0.0000,  1.0507])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.selu(input, self.inplace)


class Hardsigmoid(_InPlace):
    """Applies a piecewise linear approximation of the sigmoid to every element:

        Hardsigmoid(x) = 0              if x <= -3
                         1              if x >= 3
                         x / 6 + 1/2    between

    Args:
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardsigmoid()(torch.tensor([-4.0, 0.0, 1.5, 4.0]))
        tensor([0.0000, 0.5000, 0.7500, 1.0000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _Shrink(Module):
    """An activation that is zero for |x| <= lambd."""

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """Sets elements close to zero to zero and keeps the others:

        Hardshrink(x) = x    if |x| > lambd
                        0    otherwise

    Args:
        lambd: the largest absolute value that becomes zero; default 0.5

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Hardshrink()(torch.tensor([-1.0, 0.3, 0.5, 2.0]))
        tensor([-1.,  0.,  0.,  2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """Moves every element towards zero by `lambd`, and no further than zero:

        Softshrink(x) = x - lambd    if x > lambd
                        x + lambd    if x < -lambd
                        0            between

    Args:
        lambd: the distance, not negative; default 0.5

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Softshrink()(torch.tensor([-1.0, 0.3, 0.5, 2.0]))
        tensor([-0.5000,  0.0000,  0.0000,  1.5000])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softshrink(input, self.lambd)


class Softsign(Module):
    """Maps real numbers to (-1, 1), with slower saturation than tanh:

        Softsign(x) = x / (1 + |x|)

    Shape:
        Input: any shape.
        Output: the same shape as the input.

    Example:
        >>> nn.Softsign()(torch.tensor([-1.0, 0.0, 3.0]))
        tensor([-0.5000,  0.0000,  0.7500])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.softsign(input)


class Tanhshrink(Module):
    """Applies the difference between the identity and tanh to every element:

        Tanhshrink(x) = x - tanh(x)

    Shape:
        Input: any shape.
        Output: the same shape as the input.

    Example:
        >>> nn.Tanhshrink()(torch.tensor([-1.0, 0.0, 3.0]))
        tensor([-0.2384,  0.0000,  2.0049])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.tanhshrink(input)


class Threshold(Module):
    """Keeps every element above a threshold and replaces the others by a constant:

        Threshold(x) = x        if x > threshold
                       value    otherwise

    Args:
        threshold: the largest number that is replaced
        value: the replacement
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.Threshold(0.5, 9.0)(torch.tensor([0.0, 0.5, 1.0]))
        tensor([9., 9., 1.])
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class RReLU(Module):
    """Applies a leaky rectified linear unit with random slopes for negative inputs:

        RReLU(x) = x        if x >= 0
                   a · x    otherwise

    In training, a is drawn from the uniform distribution over [lower, upper) for each element. In evaluation,
    it is (lower + upper) / 2.

    Source: Xu et al., Empirical evaluation of rectified activations in convolutional network (2015).

    Args:
        lower: the smallest slope; default 1/8
        upper: the largest slope; default 1/3
        inplace: whether to overwrite the input; default False

    Shape:
        Input: any shape.
        Output: the same shape and dtype as the input.

    Example:
        >>> nn.RReLU(0.1, 0.3).eval()(torch.tensor([-1.0, 2.0]))
        tensor([-0.2000,  2.0000])
    """

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class PReLU(Module):
    """Applies a leaky rectified linear unit with a learned slope for negative inputs:

        PReLU(x) = x             if x >= 0
                   weight · x    otherwise

    Source: He et al., Delving deep into rectifiers (2015).

    Args:
        num_parameters: 1 for one slope (default), or the number of channels for a slope for each of them
        init: the slope at the start; default 0.25
        device, dtype: those of the weight

    Shape:
        Input: (N, C, ...); dimension 1 holds the channels.
        Output: the same shape and dtype as the input.
        weight: (num_parameters,).

    Example:
        >>> nn.PReLU()(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([-0.2500,  0.0000,  2.0000], grad_fn=<PreluKernelBackward0>)
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Device = None, dtype: _dtype | None = None
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(_torch.empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        init.constant_(self.weight, self.init)

    def forward(self, input: Tensor) -> Tensor:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class MultiheadAttention(Module):
    """Lets every position of one sequence gather information from all positions of another, with several
    heads.

    Each head projects queries, keys and values to E = embed_dim / num_heads features and computes

        headᵢ = softmax(Qᵢ · Kᵢᵀ / √E) · Vᵢ

    A linear layer, `out_proj`, maps the joined heads to the output. If keys and values have as many features
    as queries, one parameter, `in_proj_weight`, holds the three projections; otherwise they are
    `q_proj_weight`, `k_proj_weight` and `v_proj_weight`.

    Source: Vaswani et al., Attention is all you need (2017).

    Args:
        embed_dim: the number of features of queries and of the output
        num_heads: the number of heads, which must divide `embed_dim`
        dropout: the probability of dropping an attention weight in training; default 0.0
        bias: whether the projections add a learned bias; default True
        add_bias_kv: whether to append a learned key and value to each sequence; default False
        add_zero_attn: whether to append a key and a value of zeros to each sequence; default False
        kdim: the number of features of keys; default `embed_dim`
        vdim: the number of features of values; default `embed_dim`
        batch_first: whether the batch is the first dimension of inputs and output; default False
        device, dtype: those of the parameters

    Shape:
        query: (L, N, embed_dim), (N, L, embed_dim) with `batch_first`, or (L, embed_dim).
        key: (S, N, kdim), (N, S, kdim) with `batch_first`, or (S, kdim).
        value: (S, N, vdim), (N, S, vdim) with `batch_first`, or (S, vdim).
        Output: the shape of the query; the weights are (N, L, S) or (L, S).

    Raises:
        ValueError: `embed_dim` or `num_heads` is not positive
        AssertionError: `num_heads` does not divide `embed_dim`

    Example:
        >>> attention = nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)
        >>> tokens = torch.randn(4, 5, 8)
        >>> output, weights = attention(tokens, tokens, tokens)
        >>> output.shape, weights.shape
        (torch.Size([4, 5, 8]), torch.Size([4, 5, 5]))
    """

    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        if embed_dim % num_heads != 0:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads

        def parameter(*shape: int) -> Parameter:
            return Parameter(_torch.empty(shape, device=device, dtype=dtype))

        together = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", parameter(3 * embed_dim, embed_dim) if together else None)
        for name, width in (
            ("q_proj_weight", embed_dim),
            ("k_proj_weight", self.kdim),
            ("v_proj_weight", self.vdim),
        ):
            self.register_parameter(name, None if together else parameter(embed_dim, width))
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        for name in ("bias_k", "bias_v"):
            setattr(self, name, parameter(1, 1, embed_dim) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)  # type: ignore[arg-type]
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the output, and the attention weights or None.

        Args:
            query, key, value: the three sequences; their shapes are those of the class
            key_padding_mask: (N, S), True (or, for floats, a large negative number) where a key is padding
            need_weights: whether to return the attention weights. False is faster
            attn_mask: (L, S) or (N · num_heads, L, S), True where a query may not attend to a key, or a float
                mask that is added to the scores
            average_attn_weights: whether the weights are the mean over heads, (N, L, S), or those of each
                head, (N, num_heads, L, S)
            is_causal: a hint that `attn_mask` is the causal mask, which must be given too
        """
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            # Arguments that are the same tensor must stay the same tensor.
            if query is key and key is value:
                query = key = value = query.transpose(1, 0)
            elif key is value:
                query = query.transpose(1, 0)
                key = value = key.transpose(1, 0)
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))

        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )

        return (output.transpose(1, 0) if swapped else output), weights
