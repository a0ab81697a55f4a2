"""Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py.optim.optimizer import Optimizer, evaluate


def _check(lr: Any, betas: tuple[float, float], eps: float, weight_decay: float) -> None:
    if lr < 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    if eps < 0.0:
        raise ValueError(f"Invalid epsilon value: {eps}")
    for position, beta in enumerate(betas):
        if not 0.0 <= beta < 1.0:
            raise ValueError(f"Invalid beta parameter at index {position}: {beta}")
    if weight_decay < 0.0:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")


class Adam(Optimizer):
    """p -= lr * m̂ / (sqrt(v̂) + eps) with running means m of the gradient and v of its square, corrected for their start at zero.

    `weight_decay` is added to the gradient, or shrinks p on its own with `decoupled_weight_decay`; `amsgrad` uses the largest v so far
    (Reddi et al. 2018); `maximize` climbs. Raises ValueError for settings out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        _check(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused, "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = evaluate(closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)
        return loss

    def _state_of(self, parameter: Any, amsgrad: bool) -> dict[str, Any]:
        state: dict[str, Any] = self.state[parameter]
        if not state:
            state["step"] = _C.tensor(0.0, dtype=_C.float32)
            state["exp_avg"] = _torch.zeros_like(parameter)
            state["exp_avg_sq"] = _torch.zeros_like(parameter)
            if amsgrad:
                state["max_exp_avg_sq"] = _torch.zeros_like(parameter)
        return state

    def _update(self, parameter: Any, group: dict[str, Any]) -> None:
        beta1, beta2 = group["betas"]
        state = self._state_of(parameter, group["amsgrad"])
        gradient = -parameter.grad if group["maximize"] else parameter.grad
        state["step"] += 1
        step = state["step"].item()
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                parameter.mul_(1 - group["lr"] * group["weight_decay"])
            else:
                gradient = gradient.add(parameter, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(gradient, 1 - beta1)
        square.mul_(beta2).addcmul_(gradient, gradient, value=1 - beta2)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].copy_(_torch.maximum(state["max_exp_avg_sq"], square))
        denominator = (square.sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
        parameter.addcdiv_(mean, denominator, value=-(group["lr"] / (1 - beta1**step)))


class AdamW(Adam):
    """Adam whose weight decay shrinks the parameter by lr * weight_decay instead of entering the gradient."""

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **keywords: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **keywords, decoupled_weight_decay=True)
