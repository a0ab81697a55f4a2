"""The optimizer RMSprop (Tieleman & Hinton 2012; centred: Graves 2013)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    add_quotient,
    add_scaled,
    average_squares,
    check_not_negative,
    check_rate,
    new_count,
    rate_of,
    root_plus,
)
from torch_py.optim.optimizer import ParamsT

__all__ = ["RMSprop"]


class RMSprop(ElementwiseOptimizer):
    """Divides the gradient by the root of the running mean of its square:

        s = alpha · s + (1 - alpha) · g²
        p = p - lr · g / (√s + eps)

    With `centered`, the square of the running mean of g is subtracted from s. With momentum, the quotients
    are accumulated first.

    Source: Hinton, lecture 6 of Neural networks for machine learning (2012).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.01
        alpha: the decay rate of the mean; default 0.99
        eps: what is added to the divisor; default 1e-8
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        momentum: the share of the previous step; default 0
        centered: whether to divide by an estimate of the variance; default False
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False
        differentiable: whether autograd records the step; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RMSprop([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative(eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)

        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        names = [
            "square_avg",
            *(["momentum_buffer"] if group["momentum"] > 0 else []),
            *(["grad_avg"] if group["centered"] else []),
        ]
        return {"step": new_count(), **{name: _torch.zeros_like(parameter) for name in names}}

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        alpha = group["alpha"]
        squares = state["square_avg"]
        state["step"] += 1
        average_squares(squares, gradient, alpha)
        if group["centered"]:
            state["grad_avg"].lerp_(gradient, 1 - alpha)
            squares = squares.addcmul(state["grad_avg"], state["grad_avg"], value=-1)

        denominator = root_plus(squares, group["eps"], group)
        if group["momentum"] > 0:
            state["momentum_buffer"].mul_(group["momentum"]).addcdiv_(gradient, denominator)
            add_scaled(parameter, state["momentum_buffer"], -rate_of(group))
        else:
            add_quotient(parameter, gradient, denominator, -rate_of(group))
