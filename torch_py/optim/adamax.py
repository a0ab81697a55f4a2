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
    """Adamax: p -= lr * m̂ / u with u = max(beta2 * u, abs(g) + eps), the infinity norm of past gradients,
    and m̂ the corrected running mean of g."""

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
