"""The optimizer Adamax (Kingma & Ba 2015, section 7.1)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    add_quotient,
    check_betas,
    check_not_negative,
    check_rate,
    new_count,
    raised,
    rate_of,
)
from torch_py.optim.optimizer import ParamsT

__all__ = ["Adamax"]


class Adamax(ElementwiseOptimizer):
    """Adam with the largest gradient in place of the mean square:

        m = β₁ · m + (1 - β₁) · g
        u = max(β₂ · u, |g| + eps)
        p = p - lr / (1 - β₁ᵗ) · m / u    in step t

    Source: Kingma and Ba, Adam: a method for stochastic optimization (2014).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.002
        betas: β₁ and β₂, the decay rates of both means; default (0.9, 0.999)
        eps: what is added to the divisor; default 1e-8
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False
        differentiable: whether autograd records the step; default False
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adamax([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)

        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_count(),
            "exp_avg": _torch.zeros_like(parameter),
            "exp_inf": _torch.zeros_like(parameter),
        }

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        state["step"] += 1
        state["exp_avg"].lerp_(gradient, 1 - beta1)
        largest = raised(state["exp_inf"].mul_(beta2), gradient.abs().add_(group["eps"]), group)
        rate = rate_of(group) / (1 - beta1 ** state["step"].item())
        add_quotient(parameter, state["exp_avg"], largest, -rate)
