"""The optimizer Rprop, resilient backpropagation (Riedmiller & Braun 1993)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import ElementwiseOptimizer, check_rate, new_count, number
from torch_py.optim.optimizer import ParamsT

__all__ = ["Rprop"]


class Rprop(ElementwiseOptimizer):
    """Rprop: each element has its own step size, which is multiplied by etas[1] while the sign of the
    gradient stays, and by etas[0] when it changes.

    An element whose gradient changes sign is not updated in that step. `step_sizes` are the smallest and the
    largest step size; `lr` is the first one.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")

        defaults = {
            "lr": lr,
            "etas": etas,
            "step_sizes": step_sizes,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        rate = number(group["lr"])
        first = _torch.full_like(parameter, complex(rate, rate) if parameter.is_complex() else rate)
        return {"step": new_count(), "prev": _torch.zeros_like(parameter), "step_size": first}

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        shorter, longer = group["etas"]
        least, largest = group["step_sizes"]
        state["step"] += 1

        product = gradient * state["prev"]
        stayed = product > 0
        turned = product < 0
        factor = _torch.ones_like(product).masked_fill_(stayed, longer).masked_fill_(turned, shorter)
        state["step_size"].mul_(factor).clamp_(least, largest)

        gradient = gradient.masked_fill(turned, 0)
        parameter.addcmul_(gradient.sign(), state["step_size"], value=-1)
        state["prev"].copy_(gradient)
