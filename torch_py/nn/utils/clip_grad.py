"""Gradient clipping."""

from __future__ import annotations

from collections.abc import Iterable

from torch_py._C import _torch
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py._tensor import Tensor
from torch_py.autograd.grad_mode import no_grad
from torch_py.linalg import vector_norm  # type: ignore[attr-defined]
from torch_py.utils._foreach_utils import _device_has_foreach_support


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    """Returns the gradients of the parameters that have one."""
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [parameter.grad for parameter in given if parameter.grad is not None]


def _check_foreach(foreach: bool | None, tensors: list[Tensor]) -> None:
    """Raises RuntimeError if `foreach` asks for list operators on a device without them."""
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
    """Returns the norm of order `norm_type` of all tensors as one vector.

    With `error_if_nonfinite`, raises RuntimeError if it is nan or infinite.

    List operators are always used; `foreach=True` raises RuntimeError for a device without them.

    Args:
        tensors: a tensor or several
        norm_type: the power of the norm, which may be infinite; default 2.0
        error_if_nonfinite: whether a norm that is NaN or infinite is an error; default False
        foreach: accepted as in PyTorch; default None

    Example:
        >>> nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
        tensor(5.)
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not given:
        return _torch.zeros(())
    _check_foreach(foreach, given)

    norms = _torch._foreach_norm(given, float(norm_type))
    if len({norm.device for norm in norms}) > 1:
        norms = tuple(norm.to(given[0].device) for norm in norms)
    total = vector_norm(_torch.stack(norms), float(norm_type))
    if error_if_nonfinite and not bool(_torch.isfinite(total)):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it "
            f"cannot be clipped: got {total.item()}"
        )

    return total


def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor], max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Multiplies all gradients by max_norm / (total_norm + 1e-6) if that is below one.

    Args:
        parameters: a tensor or several, whose gradients are changed in place
        max_norm: the largest norm
        total_norm: the norm, as `get_total_norm` computes it
        foreach: accepted as in PyTorch; default None

    Example:
        >>> weight = nn.Parameter(torch.zeros(2))
        >>> weight.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grads_with_norm_([weight], 1.0, torch.tensor(5.0))
        >>> weight.grad
        tensor([0.6000, 0.8000])
    """
    with no_grad():
        # Clamp the factor in place of a comparison, which would have to wait for the result.
        factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
        gradients = _gradients(parameters)
        _check_foreach(foreach, gradients)
        for device in dict.fromkeys(gradient.device for gradient in gradients):
            here = [gradient for gradient in gradients if gradient.device == device]
            _torch._foreach_mul_(here, factor.to(device))


def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scales all gradients so that their norm as one vector is at most `max_norm`; returns the norm from
    before.

    The factor is max_norm / (norm + 1e-6) if that is below one. With `error_if_nonfinite`, raises
    RuntimeError if the norm is nan or infinite.

    Args:
        parameters: a tensor or several, whose gradients are changed in place
        max_norm: the largest norm
        norm_type: the power of the norm, which may be infinite; default 2.0
        error_if_nonfinite: whether a norm that is NaN or infinite is an error; default False
        foreach: accepted as in PyTorch; default None

    Example:
        >>> weight = nn.Parameter(torch.zeros(2))
        >>> weight.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_([weight], max_norm=1.0)
        tensor(5.)
        >>> weight.grad
        tensor([0.6000, 0.8000])
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
    """Limits every element of every gradient to ±clip_value.

    Args:
        parameters: a tensor or several, whose gradients are changed in place
        clip_value: the limit
        foreach: accepted as in PyTorch; default None

    Example:
        >>> weight = nn.Parameter(torch.zeros(2))
        >>> weight.grad = torch.tensor([3.0, -0.5])
        >>> nn.utils.clip_grad_value_([weight], 1.0)
        >>> weight.grad
        tensor([ 1.0000, -0.5000])
    """
    gradients = _gradients(parameters)
    _check_foreach(foreach, gradients)
    with no_grad():
        # One pass over each gradient; list operators would take one for each bound.
        for gradient in gradients:
            gradient.clamp_(min=-float(clip_value), max=float(clip_value))


__getattr__ = _lacking(__name__)
