"""Functions that optimizers with fused kernels share."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor


def check_fused(optimizer: Any, fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raises RuntimeError for settings that exclude each other.

    Fused kernels are used where possible. Only if they are requested does an optimizer accept gradients that
    a GradScaler has not unscaled, because programs may look at gradients otherwise.
    """
    if not fused:
        return
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    optimizer._step_supports_amp_scaling = True


def amp_arguments(optimizer: Any) -> dict[str, Tensor | None]:
    """The scale and overflow flag that GradScaler gives an optimizer that unscales gradients itself."""
    return {
        "grad_scale": getattr(optimizer, "grad_scale", None),
        "found_inf": getattr(optimizer, "found_inf", None),
    }
