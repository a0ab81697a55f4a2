"""The optimizer Adagrad (Duchi, Hazan & Singer 2011)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import (
    ElementwiseOptimizer,
    Row,
    add_quotient,
    check_not_negative,
    check_rate,
    new_count,
    number,
    rate_of,
    root_plus,
)
from torch_py.optim._fused import amp_arguments, check_fused
from torch_py.optim.optimizer import ParamsT

__all__ = ["Adagrad"]


class Adagrad(ElementwiseOptimizer):
    """Divides by the root of the sum of all squared gradients, so that rare features learn faster:

        s = s + g²
        p = p - lr / (1 + (t - 1) · lr_decay) · g / (√s + eps)    in step t

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods (2011).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.01
        lr_decay: how fast the rate falls; default 0
        weight_decay: the factor of the parameter that is added to the gradient; default 0
        initial_accumulator_value: what the sum begins with; default 0
        eps: what is added to the divisor; default 1e-10
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False
        differentiable: whether autograd records the step; default False
        fused: False for a step made of single operators, which is slower; default None, in one pass where
            possible

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adagrad([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    _has_fused = True

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_rate(lr)
        check_not_negative(
            lr_decay=lr_decay,
            weight_decay=weight_decay,
            initial_accumulator_value=initial_accumulator_value,
            eps=eps,
        )

        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
            "fused": fused,
        }

        super().__init__(params, defaults)
        check_fused(self, fused, foreach, differentiable)

        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter].update(self._start(parameter, group))

    def share_memory(self) -> None:
        """Moves the sums of squares to shared memory."""
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter]["sum"].share_memory_()

    def _start(self, parameter: Tensor, group: dict[str, Any]) -> dict[str, Any]:
        first = group["initial_accumulator_value"]
        return {
            "step": new_count(),
            "sum": _torch.full_like(parameter, complex(first, first) if parameter.is_complex() else first),
        }

    def _move(
        self, parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]
    ) -> None:
        state["step"] += 1
        rate = rate_of(group) / (1 + (state["step"].item() - 1) * group["lr_decay"])
        state["sum"].addcmul_(gradient, gradient, value=1)
        add_quotient(parameter, gradient, root_plus(state["sum"], group["eps"], group), -rate)

    def _move_all(self, rows: list[Row], group: dict[str, Any]) -> None:
        steps = [row.state["step"] for row in rows]
        scaling = amp_arguments(self)
        _torch._count_steps_(steps, scaling["found_inf"])

        _torch._fused_adagrad_(
            [row.parameter for row in rows],
            [row.gradient for row in rows],
            [row.state["sum"] for row in rows],
            steps,
            lr=number(group["lr"]),
            lr_decay=group["lr_decay"],
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            maximize=bool(group["maximize"]),
            **scaling,
        )
