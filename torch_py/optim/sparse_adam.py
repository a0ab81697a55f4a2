"""The optimizer SparseAdam, Adam for sparse gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._tensor import Tensor
from torch_py.optim._elementwise import check_betas, check_rate, evaluate
from torch_py.optim.optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam that updates only elements with an entry in a sparse gradient.

    Gradients are always dense here, so that `step` raises RuntimeError; use `Adam`.

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.001
        betas: β₁ and β₂, the decay rates of both means; default (0.9, 0.999)
        eps: what is added to the divisor; default 1e-8
        maximize: whether to maximize the loss instead; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> optimizer = torch.optim.SparseAdam([nn.Parameter(torch.ones(2))])
        >>> optimizer.defaults["lr"]
        0.001
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        check_rate(lr)
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Raises RuntimeError if a parameter has a gradient."""
        loss = evaluate(closure)
        if any(parameter.grad is not None for group in self.param_groups for parameter in group["params"]):
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        return loss
