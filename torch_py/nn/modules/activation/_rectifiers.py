"""The rectified linear unit and its relatives, which shrink negative elements."""

from __future__ import annotations

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.activation._in_place import _InPlace
from torch_py.nn.modules.activation._sigmoids import Hardtanh
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype

__all__ = ["CELU", "ELU", "SELU", "LeakyReLU", "PReLU", "RReLU", "ReLU", "ReLU6", "Softplus", "Threshold"]


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
