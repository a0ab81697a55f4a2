"""The optimizer Adam (Kingma & Ba 2015)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    Row,
    add_quotient,
    average_squares,
    check_betas,
    check_not_negative,
    check_rate,
    new_count,
    number,
    raised,
    rate_of,
    root_plus,
)
from torch_py.optim._fused import amp_arguments, check_fused
from torch_py.optim.optimizer import ParamsT

__all__ = ["Adam"]


class Adam(ElementwiseOptimizer):
    """Adam: steps along the running mean of gradients, divided by the root of the running mean of their
    squares:

        m = β₁ · m + (1 - β₁) · g
        v = β₂ · v + (1 - β₂) · g²
        p = p - lr · m̂ / (√v̂ + eps)    with m̂ = m / (1 - β₁ᵗ), v̂ = v / (1 - β₂ᵗ) in step t

    Source: Kingma and Ba, Adam: a method for stochastic optimization (2014).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.001
        betas: β₁ and β₂, the decay rates of both means; default (0.9, 0.999)
        eps: what is added to the divisor; default 1e-8
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        amsgrad: whether to divide by the largest v so far (Reddi et al. 2018); default False
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False
        differentiable: whether autograd records the step; default False
        fused: False for a step made of single operators, which is slower; default None, in one pass where
            possible
        decoupled_weight_decay: whether `weight_decay` shrinks the parameter instead of changing the gradient,
            as in `AdamW`; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adam([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    _has_fused = True

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
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
        check_rate(lr)
        check_not_negative(eps=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        _check_tensors(lr, betas, capturable, foreach)

        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }

        super().__init__(params, defaults)
        check_fused(self, fused, foreach, differentiable)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        names = ["exp_avg", "exp_avg_sq", *(["max_exp_avg_sq"] if group["amsgrad"] else [])]
        return {"step": new_count(), **{name: _torch.zeros_like(parameter) for name in names}}

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        beta1, beta2 = map(number, group["betas"])
        state["step"] += 1
        step = state["step"].item()
        mean = state["exp_avg"]
        square = state["exp_avg_sq"]

        mean.lerp_(gradient, 1 - beta1)
        average_squares(square, gradient, beta2)
        if group["amsgrad"]:
            square = raised(state["max_exp_avg_sq"], square, group)

        denominator = root_plus(square / (1 - beta2**step), group["eps"], group)
        add_quotient(parameter, mean, denominator, -rate_of(group) / (1 - beta1**step))

    def _move_all(self, rows: list[Row], group: dict[str, Any]) -> None:
        states = [row.state for row in rows]
        steps = [state["step"] for state in states]
        scaling = amp_arguments(self)
        beta1, beta2 = group["betas"]

        _torch._count_steps_(steps, scaling["found_inf"])
        kernel = _torch._fused_adamw_ if group["decoupled_weight_decay"] else _torch._fused_adam_
        kernel(
            [row.parameter for row in rows],
            [row.gradient for row in rows],
            [state["exp_avg"] for state in states],
            [state["exp_avg_sq"] for state in states],
            [state["max_exp_avg_sq"] for state in states] if group["amsgrad"] else [],
            steps,
            lr=number(group["lr"]),
            beta1=number(beta1),
            beta2=number(beta2),
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=bool(group["amsgrad"]),
            maximize=bool(group["maximize"]),
            **scaling,
        )


def _check_tensors(
    lr: float | Tensor, betas: tuple[float | Tensor, float | Tensor], capturable: bool, foreach: bool | None
) -> None:
    if isinstance(lr, Tensor) and foreach and not capturable:
        raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
    if not any(all(isinstance(beta, kind) for beta in betas) for kind in (float, Tensor)):
        raise ValueError("betas must be either both floats or both Tensors")

    for position, beta in enumerate(betas):
        if isinstance(beta, Tensor):
            if foreach and not capturable:
                raise ValueError(
                    f"betas[{position}] as a Tensor is not supported for capturable=False and foreach=True"
                )
            if beta.numel() != 1:
                raise ValueError(f"Tensor betas[{position}] must be 1-element")
