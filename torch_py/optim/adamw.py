"""The optimizer AdamW (Loshchilov & Hutter 2019)."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.optim.adam import Adam
from torch_py.optim.optimizer import ParamsT

__all__ = ["AdamW"]


class AdamW(Adam):
    """Adam with decoupled weight decay: each step begins with

        p = p · (1 - lr · weight_decay)

    and goes on as in `Adam`, without the decay in the gradient.

    Source: Loshchilov and Hutter, Decoupled weight decay regularization (2017).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.001
        betas: β₁ and β₂, the decay rates of both means; default (0.9, 0.999)
        eps: what is added to the divisor; default 1e-8
        weight_decay: how much parameters shrink; default 0.01
        amsgrad: whether to divide by the largest v so far (Reddi et al. 2018); default False
        maximize: whether to maximize the loss instead; default False
        foreach: accepted as in PyTorch; the results are the same; default None
        capturable: whether a step may be captured in a graph of a device; parameters on the CPU are an error
            then; default False
        differentiable: whether autograd records the step; default False
        fused: False for a step made of single operators, which is slower; default None, in one pass where
            possible

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.AdamW([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            foreach=foreach,
            maximize=maximize,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
            decoupled_weight_decay=True,
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
