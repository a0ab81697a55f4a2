"""Keeping gradients within bounds."""

from __future__ import annotations

from collections.abc import Iterable

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.linalg import vector_norm  # type: ignore[attr-defined]
from torch_py.utils._foreach_utils import _device_has_foreach_support


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in given if parameter.grad is not None]


def _check_foreach(foreach: bool | None, tensors: list[Tensor]) -> None:
    """Lists of tensors are used anyway; asking for them where there are none is a mistake."""
    for tensor in tensors if foreach else ():
        if not _device_has_foreach_support(tensor.device):
            raise RuntimeError(
                f"foreach=True was passed, but can't use the foreach API on {tensor.device.type} tensors"
            )


def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The norm of order `norm_type` of all tensors as one vector. `error_if_nonfinite`: RuntimeError when it
    is nan or infinite.

    `foreach=True` raises RuntimeError for tensors on a device without list operators; whatever it is, they
    are used.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return _torch.zeros(())

    _check_foreach(foreach, given)
    total = vector_norm(_torch.stack(_torch._foreach_norm(given, float(norm_type))), float(norm_type))
    if error_if_nonfinite and not bool(_torch.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
            f"cannot be clipped: got {total.item()}"
        )

    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scales all gradients by max_norm / (total_norm + 1e-6) where that is below one."""
    with no_grad():
        # Without asking whether it is below one, as the answer would have to be waited for.
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        gradients = _gradients(parameters)
        _check_foreach(foreach, gradients)
        if gradients:
            _torch._foreach_mul_(gradients, factor)


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales all gradients by max_norm / (total + 1e-6) where that is below one; returns `total`, their norm
    as one vector, from before.

    `error_if_nonfinite`: RuntimeError when the total is nan or infinite.
    """
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    with no_grad():
        total = get_total_norm(_gradients(given), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(given, max_norm, total, foreach)
    return total


clip_grad_norm = clip_grad_norm_


def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Cuts every element of every gradient off at ±clip_value."""
    gradients = _gradients(parameters)
    _check_foreach(foreach, gradients)
    with no_grad():
        for gradient in gradients:  # one pass over each, where lists would take one for either bound
            gradient.clamp_(min=-float(clip_value), max=float(clip_value))
