"""What optimisers with fused kernels share."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor


def check_fused(optimizer: Any, fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raises RuntimeError for settings that exclude each other. Without any the fused kernels are used where
    they can be.

    Only where they are asked for, an optimiser takes gradients of a GradScaler that are still scaled: else
    programs may look at them.
    """
    if not fused:
        return
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")
    optimizer._step_supports_amp_scaling = True


def amp_arguments(optimizer: Any) -> dict[str, Tensor | None]:
    """What a GradScaler leaves with an optimiser that divides by the scale itself."""
    return {
        "grad_scale": getattr(optimizer, "grad_scale", None),
        "found_inf": getattr(optimizer, "found_inf", None),
    }
