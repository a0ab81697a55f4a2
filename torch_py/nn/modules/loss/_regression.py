"""Losses of numbers against numbers."""

from __future__ import annotations

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.loss._base import _Loss

__all__ = ["GaussianNLLLoss", "HuberLoss", "L1Loss", "MSELoss", "PoissonNLLLoss", "SmoothL1Loss"]


class L1Loss(_Loss):
    """Computes the absolute error:

        loss = |input - target|

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
        tensor(1.2500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Computes the squared error:

        loss = (input - target)²

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
        tensor(2.1250)
        >>> nn.MSELoss(reduction="none")(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 4.0]))
        tensor([0.2500, 4.0000])
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Computes an error that is quadratic near zero and linear beyond, so that outliers count less than in
    `MSELoss`:

        loss = d² / (2 · beta)    if d < beta, with d = |input - target|
               d - beta / 2       otherwise

    Args:
        size_average, reduce: former ways to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element
        beta: where the quadratic part ends, at least 0; 0 is `L1Loss`; default 1.0

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.SmoothL1Loss()(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(1.3125)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Computes an error that is quadratic near zero and linear with slope `delta` beyond:

        loss = d² / 2                     if d < delta, with d = |input - target|
               delta · (d - delta / 2)    otherwise

    It is `delta` times the `SmoothL1Loss` with beta = delta.

    Args:
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element
        delta: where the quadratic part ends, greater than 0; default 1.0

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.HuberLoss(delta=2.0)(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(2.0625)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, self.reduction, self.delta)


class PoissonNLLLoss(_Loss):
    """Computes the negative log likelihood of counts under a Poisson distribution:

        loss = exp(input) - target · input            if log_input
               input - target · log(input + eps)      otherwise

    The term log(target!), which does not depend on the input, is left out unless `full`.

    Args:
        log_input: whether the input is the logarithm of the rate; default True
        full: whether to add Stirling's approximation of log(target!) for targets above 1; default False
        size_average: a former way to choose the reduction, with a warning
        eps: what keeps the logarithm finite where `log_input` is False; default 1e-8
        reduce: a former way to choose the reduction, with a warning
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: any shape, the same.
        Output: a scalar, or the shape of the input with 'none'.

    Example:
        >>> nn.PoissonNLLLoss()(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 3.0]))
        tensor(0.3591)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input, target, self.log_input, self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Computes the negative log likelihood under normal distributions with predicted mean and variance:

        loss = (log(max(var, eps)) + (input - target)² / max(var, eps)) / 2

    The layer is called with the input (the means), the target and the variance.

    Args:
        full: whether to add the constant log(2π) / 2; default False
        eps: the least variance; default 1e-6
        reduction: 'mean' (default) of all elements, 'sum', or 'none' for a loss of each element

    Shape:
        Input, target: (N, ...) or (...), the same or broadcastable.
        var: the shape of the input, without the last dimension or with size 1 there, or a number.
        Output: a scalar, or the shape of the input with 'none'.

    Raises:
        ValueError: a variance is negative, or its shape does not fit

    Example:
        >>> loss = nn.GaussianNLLLoss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 2.0]), torch.tensor([1.0, 0.5]))
        tensor(-0.1108)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(input, target, var, self.full, self.eps, self.reduction)
