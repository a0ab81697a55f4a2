"""The optimizer Adafactor (Shazeer & Stern 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import evaluate, new_count, number, recorded_if_differentiable
from torch_py.optim.optimizer import Optimizer, ParamsT

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """Divides the gradient by root mean squares, of which a matrix keeps only the means of its rows and
    columns: it needs little memory.

    The learning rate is relative to the size of the parameter.

    Source: Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost (2018).

    Args:
        params: tensors, (name, tensor) pairs, or dicts with 'params' and settings of their own
        lr: the learning rate; default 0.01
        beta2_decay: the newest square enters the mean with the weight t^beta2_decay in step t; default -0.8
        eps: the smallest square, None for that of the dtype, and the smallest root mean square of a
            parameter; default (None, 1e-3)
        d: the largest root mean square of an update; default 1.0
        weight_decay: how much parameters shrink, as in `AdamW`; default 0.0
        foreach: accepted as in PyTorch; the results are the same; default None
        maximize: whether to maximize the loss instead; default False

    Raises:
        ValueError: a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.tensor([1.0]))
        >>> optimizer = torch.optim.Adafactor([weight], lr=0.1)
        >>> weight.pow(2).sum().backward()
        >>> optimizer.step()
        >>> weight.item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")

        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        for position, least in enumerate(eps):
            if least is not None and not 0.0 <= least:
                raise ValueError(f"epsilon{position + 1} should be >= 0 but is: {least}")

        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")

        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }

        super().__init__(params, defaults)

    @recorded_if_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters once and returns the loss of `closure`, if there is one."""
        loss = evaluate(closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if parameter.is_complex():
                    raise RuntimeError("Adafactor does not support complex parameters")

                state = self.state[parameter]
                if not state:
                    state.update(_start(parameter.grad))
                _move(parameter, -parameter.grad if group["maximize"] else parameter.grad, state, group)

        return loss


def _start(gradient: Tensor) -> dict[str, Any]:
    if gradient.dim() < 2:
        return {
            "step": new_count(),
            "variance": _torch.zeros_like(gradient, memory_format=_C.preserve_format),
        }

    rows = list(gradient.shape)
    columns = list(gradient.shape)
    rows[-1] = columns[-2] = 1
    return {"step": new_count(), "row_var": gradient.new_zeros(rows), "col_var": gradient.new_zeros(columns)}


def _variance(gradient: Tensor, state: dict[str, Any], newest: float, least: float) -> Tensor:
    """The estimate of the mean squares; for matrices it is the product of the means of rows and columns."""
    if gradient.dim() < 2:
        return state["variance"].lerp_(gradient * gradient, newest).clone()

    rows = state["row_var"]
    columns = state["col_var"]
    squares = gradient * gradient
    rows.lerp_(squares.mean(dim=-1, keepdim=True), newest)
    columns.lerp_(squares.mean(dim=-2, keepdim=True), newest)
    return (rows * columns).div_(rows.mean(dim=-2, keepdim=True).clamp_(min=least))


def _move(parameter: Tensor, gradient: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
    least, least_size = group["eps"]
    least = _C.finfo(parameter.dtype).eps if least is None else least

    rate = number(group["lr"])
    state["step"] += 1
    step = state["step"].item()
    root_count = parameter.numel() ** 0.5
    scale = max(least_size, parameter.norm(2).item() / root_count) * min(rate, 1 / step**0.5)

    if group["weight_decay"] != 0:
        parameter.mul_(1 - rate * group["weight_decay"])

    update = _variance(gradient, state, step ** group["beta2_decay"], least)
    update = update.clamp_(min=least * least).rsqrt_().mul_(gradient)
    parameter.add_(update, alpha=-scale / max(1.0, update.norm(2).item() / (root_count * group["d"])))
