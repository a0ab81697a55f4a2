"""The optimizer NAdam, Adam with Nesterov momentum (Dozat 2016)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    add_quotient,
    average_squares,
    check_betas,
    check_not_negative,
    check_rate,
    new_count,
    rate_of,
    root_plus,
)
from torch_py.optim.optimizer import ParamsT

__all__ = ["NAdam"]


class NAdam(ElementwiseOptimizer):
    """Adam with Nesterov momentum: the mean already includes the next momentum, which in step t is

        μ = β₁ · (1 - 0.96^(t · momentum_decay) / 2)

    Source: Dozat, Incorporating Nesterov momentum into Adam (2016).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.002
        betas: β₁ and β₂, the decay rates of both means; default (0.9, 0.999)
        eps: what is added to the divisor; default 1e-8
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        momentum_decay: how fast momentum rises; default 0.004
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
        >>> optimizer = torch.optim.NAdam([weight], lr=0.1)
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
        momentum_decay: float = 4e-3,
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
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)

        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        scalars = {"step": new_count(), "mu_product": new_count().fill_(1.0)}
        return {
            **scalars,
            "exp_avg": _torch.zeros_like(parameter),
            "exp_avg_sq": _torch.zeros_like(parameter),
        }

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = group["betas"]
        state["step"] += 1
        step = state["step"].item()

        momentum, following = (
            beta1 * (1 - 0.5 * 0.96 ** (t * group["momentum_decay"])) for t in (step, step + 1)
        )
        state["mu_product"] *= momentum
        product = state["mu_product"].item()

        state["exp_avg"].lerp_(gradient, 1 - beta1)
        average_squares(state["exp_avg_sq"], gradient, beta2)
        denominator = root_plus(state["exp_avg_sq"] / (1 - beta2**step), group["eps"], group)

        rate = rate_of(group)
        add_quotient(parameter, gradient, denominator, -rate * (1 - momentum) / (1 - product))
        add_quotient(parameter, state["exp_avg"], denominator, -rate * following / (1 - product * following))
