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
    """Adadelta: p -= lr * d with d = g * sqrt(running mean of d ** 2 + eps) / sqrt(running mean of
    g ** 2 + eps). `rho` is the decay rate of both means."""

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
