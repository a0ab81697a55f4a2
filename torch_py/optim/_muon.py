"""The optimizer Muon (Jordan et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.optim._elementwise import check_not_negative, evaluate, recorded_if_differentiable
from torch_py.optim.optimizer import Optimizer, ParamsT

__all__ = ["Muon"]


class Muon(Optimizer):
    """Updates matrices by the orthogonal matrix nearest to their momentum, computed with Newton-Schulz
    iterations in bfloat16.

    Source: Jordan et al., Muon: an optimizer for hidden layers in neural networks (2024).

    Args:
        params: matrices; train other parameters with `AdamW`
        lr: the learning rate; default 0.001
        weight_decay: how much parameters shrink, as in `AdamW`; default 0.1
        momentum: the share of the previous momentum; default 0.95
        nesterov: whether to look ahead; default True
        ns_coefficients: the coefficients of the iteration; default (3.4445, -4.775, 2.0315)
        eps: the least divisor when the momentum is normalized; default 1e-7
        ns_steps: the number of iterations; default 5
        adjust_lr_fn: how the rate depends on the shape: 'original' (default) or 'match_rms_adamw'

    Raises:
        ValueError: a parameter is not a matrix, or a setting is out of range

    Example:
        >>> weight = nn.Parameter(torch.eye(2))
        >>> optimizer = torch.optim.Muon([weight], lr=0.1)
        >>> weight.sum().backward()
        >>> optimizer.step()
        >>> weight[0, 0].item() < 1
        True
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for word, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not 0.0 <= value:
                raise ValueError(f"{word} should be >= 0 but is: {value}")
        check_not_negative(eps=eps)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")

        defaults = {
            "lr": lr,
            "weight_decay": weight_decay,
            "momentum": momentum,
            "nesterov": nesterov,
            "ns_coefficients": ns_coefficients,
            "eps": eps,
            "ns_steps": ns_steps,
            "adjust_lr_fn": adjust_lr_fn,
        }

        super().__init__(params, defaults)

        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(
                        "Muon only supports 2D parameters whereas we found a parameter with size: "
                        f"{parameter.size()}"
                    )

    @recorded_if_differentiable
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates the parameters once and returns the loss of `closure`, if there is one."""
        loss = evaluate(closure)
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                if parameter.is_complex():
                    raise RuntimeError("Muon does not support complex parameters")

                state = self.state[parameter]
                if not state:
                    state["momentum_buffer"] = _torch.zeros_like(
                        parameter.grad, memory_format=_C.preserve_format
                    )
                _move(parameter, parameter.grad, state["momentum_buffer"], group)

        return loss


def _move(parameter: Tensor, gradient: Tensor, velocity: Tensor, group: dict[str, Any]) -> None:
    velocity.lerp_(gradient, 1 - group["momentum"])
    update = gradient.lerp(velocity, group["momentum"]) if group["nesterov"] else velocity
    update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
    parameter.mul_(1 - group["lr"] * group["weight_decay"])
    parameter.add_(update, alpha=-group["lr"] * _shape_factor(group["adjust_lr_fn"], *parameter.shape))


def _shape_factor(kind: str | None, rows: int, columns: int) -> float:
    if kind == "match_rms_adamw":
        return float(0.2 * max(rows, columns) ** 0.5)
    return float(max(1, rows / columns) ** 0.5)


def _orthogonal(
    matrix: Tensor, coefficients: tuple[float, float, float], steps: int, epsilon: float
) -> Tensor:
    """Brings the singular values of `matrix` close to 1: applies a polynomial of degree 5 `steps` times."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")

    linear, cubic, quintic = coefficients
    is_tall = matrix.size(0) > matrix.size(1)
    found = matrix.to(_C.bfloat16)
    found = found.t() if is_tall else found  # so that the product with itself is small
    found = found / found.norm().clamp(min=epsilon)

    for _ in range(steps):
        gram = found @ found.t()
        inner = _torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        found = _torch.addmm(found, inner, found, beta=linear)

    return found.t() if is_tall else found
