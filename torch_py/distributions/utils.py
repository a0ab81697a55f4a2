"""Helpers of distributions: broadcasting, conversion between probabilities and logits, lazy properties, and
triangular matrices as vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any

import torch_py as torch
from torch_py import Tensor

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

euler_constant = 0.57721566490153286060  # -digamma(1)
_NUMBERS = (int, float, bool)


def broadcast_all(*values: Tensor | float) -> tuple[Tensor, ...]:
    """Broadcasts all values to tensors of a common shape.

    Numbers get the dtype and device of the first tensor among the values, or the default dtype if there is no
    tensor; tensors keep their dtypes. Raises ValueError for a value of another type, and RuntimeError if the
    shapes do not broadcast.

    >>> broadcast_all(1, torch.zeros(2, dtype=torch.float64))
    (tensor([1., 1.], dtype=torch.float64), tensor([0., 0.], dtype=torch.float64))
    """
    for position, value in enumerate(values):
        if not (isinstance(value, (Tensor, *_NUMBERS)) or hasattr(type(value), "__torch_function__")):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
                f"__torch_function__; argument {position} is {value!r}"
            )

    first = next((value for value in values if not isinstance(value, _NUMBERS)), None)
    if first is None:
        options: dict[str, Any] = {"dtype": torch.get_default_dtype()}
    else:
        options = {"dtype": first.dtype, "device": first.device}

    tensors = [torch.tensor(value, **options) if isinstance(value, _NUMBERS) else value for value in values]
    return tuple(torch.broadcast_tensors(*tensors))


def _standard_normal(shape: Sequence[int], dtype: torch.dtype | None, device: torch.device | None) -> Tensor:
    return torch.normal(
        torch.zeros(shape, dtype=dtype, device=device), torch.ones(shape, dtype=dtype, device=device)
    )


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.flatten(-dim).sum(-1)


def _tiny(tensor: Tensor) -> float:
    return torch.finfo(tensor.dtype).tiny


def _eps(tensor: Tensor) -> float:
    return torch.finfo(tensor.dtype).eps


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Converts logits to probabilities, by the sigmoid for log-odds (`is_binary`), otherwise by the softmax
    over the last dimension."""
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, -1)


def clamp_probs(probs: Tensor) -> Tensor:
    """`probs` clamped to [eps, 1 - eps] of their dtype, so that their logarithms are finite."""
    eps = _eps(probs)
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Converts `probs` to log-odds if `is_binary`, otherwise to their logarithms; both are kept finite."""
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


class lazy_property:
    """A property that is computed on first use, with gradients enabled, and then stored in the instance."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self._shown = _lazy_property_and_property(wrapped)
        update_wrapper(self, wrapped)  # type: ignore[arg-type]

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self._shown

        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


class _lazy_property_and_property(lazy_property, property):
    """The form of a lazy_property that a class shows, so that tools recognize it as a property."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        property.__init__(self, wrapped)


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Converts (*, D, D) to (*, n): the entries on and below the diagonal `diag`, row by row.

    Raises ValueError for a diagonal outside [-D, D).

    >>> tril_matrix_to_vec(torch.tensor([[1, 0], [2, 3]]))
    tensor([1, 2, 3])
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    positions = torch.arange(size, device=mat.device)
    return mat[..., positions < positions.view(-1, 1) + (diag + 1)]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Converts (*, n) to (*, D, D), the inverse of `tril_matrix_to_vec`, with zeros above the diagonal.

    Raises ValueError if n is not the size of a triangle.

    >>> vec_to_tril_matrix(torch.tensor([1, 2, 3]))
    tensor([[1, 0],
            [2, 3]])
    """
    count = vec.shape[-1]
    # With d = diag, 2 n = D^2 + (2 d + 1) D + d (d + 1); for d > 0 a corner is missing and 2 n is less by 2 d
    # (d + 1). Solved for D.
    square = (1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)
    root = math.isqrt(square)

    if root * root != square:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part "
            "of a square D x D matrix."
        )

    size = (root - 1 - 2 * diag) // 2
    matrix = torch.zeros((*vec.shape[:-1], size, size), dtype=vec.dtype, device=vec.device)
    positions = torch.arange(size, device=vec.device)
    matrix[..., positions < positions.view(-1, 1) + (diag + 1)] = vec
    return matrix
