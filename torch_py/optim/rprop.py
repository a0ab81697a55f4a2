"""The optimizer Rprop, resilient backpropagation (Riedmiller & Braun 1993)."""

from __future__ import annotations

from typing import Any

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import ElementwiseOptimizer, check_rate, new_count, number
from torch_py.optim.optimizer import ParamsT

__all__ = ["Rprop"]


class Rprop(ElementwiseOptimizer):
    """Looks at the signs of gradients only. Each element has a step size, which grows while the sign stays
    and shrinks when it changes.

    An element whose gradient changes sign is not updated in that step. It is meant for gradients of the whole
    data set.

    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning (1993).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the first step size; default 0.01
        etas: the factors by which step sizes shrink and grow; default (0.5, 1.2)
        step_sizes: the smallest and the largest step size; default (1e-6, 50)
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False
        differentiable: whether autograd records the step; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Rprop([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
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
