"""The optimizer ASGD, averaged stochastic gradient descent (Polyak & Juditsky 1992)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    check_not_negative,
    check_rate,
    new_count,
    number,
)
from torch_py.optim.optimizer import ParamsT

__all__ = ["ASGD"]


class ASGD(ElementwiseOptimizer):
    """Averaged stochastic gradient descent:

        eta = lr / (1 + lambd · lr · t)^alpha
        p = (1 - lambd · eta) · p - eta · g    in step t

    The state 'ax' is the average of p from step `t0` on.

    Source: Polyak and Juditsky, Acceleration of stochastic approximation by averaging (1992).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the first learning rate; default 0.01
        lambd: the decay of parameter and rate; default 1e-4
        alpha: the power of the decay of the rate; default 0.75
        t0: the step from which on to average; default 1e6
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
        >>> optimizer = torch.optim.ASGD([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_rate(lr)
        check_not_negative(weight_decay=weight_decay)

        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "capturable": capturable,
        }

        super().__init__(params, defaults)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        scalars = {
            "step": new_count(),
            "eta": new_count().fill_(number(group["lr"])),
            "mu": new_count().fill_(1.0),
        }
        return {**scalars, "ax": _torch.zeros_like(parameter)}

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        state["step"] += 1
        step = state["step"].item()
        eta = state["eta"].item()
        mu = state["mu"].item()

        parameter.mul_(1 - group["lambd"] * eta)
        parameter.add_(gradient, alpha=-eta)

        if mu == 1:
            state["ax"].copy_(parameter)
        else:
            state["ax"].add_((parameter - state["ax"]).mul_(mu))

        rate = number(group["lr"])
        state["eta"].fill_(rate / (1 + group["lambd"] * rate * step) ** group["alpha"])
        state["mu"].fill_(1 / max(1, step - group["t0"]))
