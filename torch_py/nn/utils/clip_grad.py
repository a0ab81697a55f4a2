"""Keeping gradients within bounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_py._C import _torch
from torch_py._functional import norm
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad


def _gradients(parameters: Any) -> list[Any]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in given if parameter.grad is not None]


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """Scales all gradients by max_norm / (total + 1e-6) where that is below one; returns `total`, their norm as one vector, from before.

    `error_if_nonfinite`: RuntimeError when the total is nan or infinite.
    """
    with no_grad():
        gradients = _gradients(parameters)
        if not gradients:
            return _torch.zeros(())
        total = norm(_torch.stack([norm(gradient, norm_type) for gradient in gradients]), norm_type)
        if error_if_nonfinite and not bool(_torch.isfinite(total)):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be clipped: got {total.item()}"
            )
        factor = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for gradient in gradients:
            gradient.mul_(factor)
        return total


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None) -> None:
    """Cuts every element of every gradient off at ±clip_value."""
    with no_grad():
        for gradient in _gradients(parameters):
            gradient.clamp_(min=-float(clip_value), max=float(clip_value))
