"""The optimizer SGD, stochastic gradient descent with momentum."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    Row,
    add_scaled,
    check_not_negative,
    check_rate,
    number,
    rate_of,
)
from torch_py.optim._fused import amp_arguments, check_fused
from torch_py.optim.optimizer import ParamsT

__all__ = ["SGD"]


class SGD(ElementwiseOptimizer):
    """Stochastic gradient descent, with momentum:

        g = gradient + weight_decay · p
        v = momentum · v + (1 - dampening) · g    (g in the first step)
        p = p - lr · v

    With `nesterov`, g + momentum · v takes the place of v in the last line.

    Source: for momentum, Sutskever et al., On the importance of initialization and momentum in deep learning
    (2013).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate, a number or a tensor of one element; default 0.001
        momentum: the share of the previous v; default 0
        dampening: what the new gradient loses in v; default 0
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        nesterov: whether to look ahead; needs momentum and no dampening; default False
        maximize: whether to maximize the loss instead; default False
        foreach: accepted as in PyTorch; the results are the same; default None
        differentiable: whether autograd records the step; default False
        fused: False for a step made of single operators, which is slower; default None, in one pass where
            possible

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.SGD([weight], lr=0.1)
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
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float | Tensor = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr, may_be_nan=True)
        check_not_negative(True, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")

        defaults = {
            "lr": lr,
            "momentum": momentum,
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "foreach": foreach,
            "differentiable": differentiable,
            "fused": fused,
        }

        super().__init__(params, defaults)
        check_fused(self, fused, foreach, differentiable)

    def _remembers(self, group: dict[str, Any]) -> bool:
        return bool(group["momentum"] != 0)

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        return {"momentum_buffer": None}

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        momentum = group["momentum"]
        if momentum != 0:
            velocity = state["momentum_buffer"]
            if velocity is None:
                velocity = state["momentum_buffer"] = gradient.clone()
            else:
                velocity.mul_(momentum).add_(gradient, alpha=1 - group["dampening"])
            gradient = gradient.add(velocity, alpha=momentum) if group["nesterov"] else velocity

        rate = rate_of(group)
        add_scaled(parameter, gradient, -rate)

    def _move_all(self, rows: list[Row], group: dict[str, Any]) -> None:
        scaling = amp_arguments(self)
        if group["momentum"] == 0:
            return _fused_step(rows, [], group, False, scaling)

        fresh = [row for row in rows if row.state.get("momentum_buffer") is None]
        going = [row for row in rows if row.state.get("momentum_buffer") is not None] if fresh else rows
        found_inf = scaling["found_inf"]
        if fresh and found_inf is not None and found_inf.item():
            return  # the kernel would skip this step and leave the new buffers uninitialized

        for row in fresh:
            row.state["momentum_buffer"] = _torch.empty_like(row.parameter)
        for part, is_first in ((fresh, True), (going, False)):
            if part:
                _fused_step(part, [row.state["momentum_buffer"] for row in part], group, is_first, scaling)


def _fused_step(
    rows: list[Row],
    buffers: list[Tensor],
    group: dict[str, Any],
    is_first: bool,
    scaling: dict[str, Tensor | None],
) -> None:
    _torch._fused_sgd_(
        [row.parameter for row in rows],
        [row.gradient for row in rows],
        buffers,
        weight_decay=number(group["weight_decay"]),
        momentum=group["momentum"],
        lr=number(group["lr"]),
        dampening=group["dampening"],
        nesterov=bool(group["nesterov"]),
        maximize=bool(group["maximize"]),
        is_first_step=is_first,
        **scaling,
    )
