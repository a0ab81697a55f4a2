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
    """Adam whose mean already includes the next momentum; the momentum at step t is
    beta1 * (1 - 0.96 ** (t * momentum_decay) / 2)."""

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
