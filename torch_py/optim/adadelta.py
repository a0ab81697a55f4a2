"""The optimizer Adadelta (Zeiler 2012)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    add_scaled,
    average_squares,
    check_not_negative,
    check_rate,
    new_count,
    rate_of,
)
from torch_py.optim.optimizer import ParamsT

__all__ = ["Adadelta"]


class Adadelta(ElementwiseOptimizer):
    """Steps whose size follows from past steps and gradients:

        s = rho · s + (1 - rho) · g²
        d = √(u + eps) / √(s + eps) · g
        u = rho · u + (1 - rho) · d²
        p = p - lr · d

    Source: Zeiler, ADADELTA: an adaptive learning rate method (2012).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the factor of the step; default 1.0
        rho: the decay rate of both means; default 0.9
        eps: what is added to both means; default 1e-6
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        foreach: accepted as in PyTorch; the results are the same; default None
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False
        maximize: whether to maximize the loss instead; default False
        differentiable: whether autograd records the step; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adadelta([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(eps=eps, weight_decay=weight_decay)

        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
            "capturable": capturable,
            "foreach": foreach,
            "differentiable": differentiable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_count(),
            "square_avg": _torch.zeros_like(parameter),
            "acc_delta": _torch.zeros_like(parameter),
        }

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        rho = group["rho"]
        eps = group["eps"]
        state["step"] += 1

        average_squares(state["square_avg"], gradient, rho)
        if group["differentiable"]:
            delta = (state["acc_delta"] + eps).sqrt() / (state["square_avg"] + eps).sqrt() * gradient
        else:
            delta = (state["acc_delta"] + eps).div_(state["square_avg"] + eps).sqrt_().mul_(gradient)

        average_squares(state["acc_delta"], delta, rho)
        add_scaled(parameter, delta, -rate_of(group))
