"""The optimizer RAdam, rectified Adam (Liu et al. 2020)."""

from __future__ import annotations

import math
from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    add_quotient,
    add_scaled,
    average_squares,
    check_betas,
    check_not_negative,
    check_rate,
    new_count,
    rate_of,
    root_plus,
)
from torch_py.optim.optimizer import ParamsT

__all__ = ["RAdam"]


class RAdam(ElementwiseOptimizer):
    """Adam that does not divide by the root of the mean square in the first steps, in which that is too
    uncertain, and rectifies it later.

    Source: Liu et al., On the variance of the adaptive learning rate and beyond (2019).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.001
        betas: β₁ and β₂, the decay rates of both means; default (0.9, 0.999)
        eps: what is added to the divisor; default 1e-8
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        decoupled_weight_decay: whether `weight_decay` shrinks the parameter instead of changing the gradient;
            default False
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False
        differentiable: whether autograd records the step; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.RAdam([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
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
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {
            "step": new_count(),
            "exp_avg": _torch.zeros_like(parameter),
            "exp_avg_sq": _torch.zeros_like(parameter),
        }

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        state["step"] += 1
        step = state["step"].item()
        state["exp_avg"].lerp_(gradient, 1 - beta1)
        average_squares(state["exp_avg_sq"], gradient, beta2)

        rate = rate_of(group) / (1 - beta1**step)
        correction = 1 - beta2**step
        # The length of the simple average that the running one approximates, at the end and now.
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * beta2**step / correction
        if length <= 5:
            return add_scaled(parameter, state["exp_avg"], -rate)

        rectification = math.sqrt(
            (length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)
        )
        denominator = root_plus(state["exp_avg_sq"], group["eps"], group)
        add_quotient(parameter, state["exp_avg"], denominator, -rate * math.sqrt(correction) * rectification)
