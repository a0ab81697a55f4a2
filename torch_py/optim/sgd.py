"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.optim.optimizer import Optimizer, check_not_negative, evaluate


class SGD(Optimizer):
    """p -= lr * v with v = momentum * v + (1 - dampening) * g, g = gradient + weight_decay * p; the first v is g.

    `nesterov` uses g + momentum * v instead of v (Sutskever et al. 2013); `maximize` climbs. Raises ValueError for negative settings.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        check_not_negative(momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        defaults = {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize,
            "foreach": foreach, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = evaluate(closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.add_(self._direction(parameter, group), alpha=-group["lr"])
        return loss

    def _direction(self, parameter: Any, group: dict[str, Any]) -> Any:
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        if group["weight_decay"] != 0:
            gradient = gradient.add(parameter, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum == 0:
            return gradient
        state = self.state[parameter]
        velocity = state.get("momentum_buffer")
        if velocity is None:
            velocity = state["momentum_buffer"] = gradient.detach().clone()
        else:
            velocity.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
        return gradient.add(velocity, alpha=momentum) if group["nesterov"] else velocity
