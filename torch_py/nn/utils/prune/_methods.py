"""Pruning methods, which choose the elements that stay."""

from __future__ import annotations

import numbers

from torch_py import _C
from torch_py._C import _torch
from torch_py._functional import norm
from torch_py._tensor import Tensor
from torch_py.nn.utils.prune._base import BasePruningMethod

__all__ = [
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "RandomStructured",
    "RandomUnstructured",
]


class Identity(BasePruningMethod):
    """Drops nothing, but makes the parameter a masked one.

    Example:
        >>> nn.utils.prune.Identity.PRUNING_TYPE
        'unstructured'
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask


class _ByAmount(BasePruningMethod):
    """Drops an amount: a number of elements if it is an integer, otherwise a share."""

    def __init__(self, amount: float) -> None:
        _check_amount(amount)
        self.amount = amount

    def _count(self, size: int) -> int:
        """Returns how many of `size` elements to drop. Raises ValueError if there are too few."""
        if isinstance(self.amount, numbers.Integral) and self.amount > size:
            raise ValueError(
                f"amount={self.amount} should be smaller than the number of parameters to prune={size}"
            )
        return int(self.amount) if isinstance(self.amount, numbers.Integral) else round(self.amount * size)


class _Unstructured(_ByAmount):
    """Drops single elements."""

    PRUNING_TYPE = "unstructured"
    _drops_largest = False

    def _importance(self, t: Tensor) -> Tensor:
        """Returns a score for each element."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        mask = default_mask.clone(memory_format=_C.contiguous_format)
        count = self._count(t.numel())
        if count:
            least = _torch.topk(self._importance(t).reshape(-1), count, largest=self._drops_largest).indices
            mask.view(-1)[least] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Drops elements at random.

    Args:
        amount: how many elements, or which share

    Example:
        >>> nn.utils.prune.RandomUnstructured(amount=1).PRUNING_TYPE
        'unstructured'
    """

    _drops_largest = True  # as in PyTorch, so that a seed drops the same elements

    def _importance(self, t: Tensor) -> Tensor:
        return _torch.rand_like(t)


class L1Unstructured(_Unstructured):
    """Drops the elements with the smallest absolute values.

    Args:
        amount: how many elements, or which share

    Example:
        >>> nn.utils.prune.L1Unstructured(amount=1).PRUNING_TYPE
        'unstructured'
    """

    def _importance(self, t: Tensor) -> Tensor:
        return _torch.abs(t)


class _Structured(_ByAmount):
    """Drops slices along `dim`."""

    PRUNING_TYPE = "structured"
    dim: int

    def _importance(self, t: Tensor) -> Tensor:
        """Returns a score for each slice."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to a multidimensional tensor. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if not -t.dim() <= self.dim < t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")

        size = t.shape[self.dim]
        count = self._count(size)
        if count == 0:
            return default_mask

        kept = _torch.topk(self._importance(t), size - count, largest=True).indices
        mask = _torch.zeros_like(t)
        mask[(slice(None),) * (self.dim % t.dim()) + (kept,)] = 1

        return mask.to(dtype=default_mask.dtype) * default_mask


class RandomStructured(_Structured):
    """Drops slices along `dim` at random.

    Args:
        amount: how many slices, or which share
        dim: the dimension; default -1

    Example:
        >>> nn.utils.prune.RandomStructured(amount=1).PRUNING_TYPE
        'structured'
    """

    def __init__(self, amount: float, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def _importance(self, t: Tensor) -> Tensor:
        return _torch.rand(t.shape[self.dim], device=t.device)


class LnStructured(_Structured):
    """Drops the slices along `dim` with the smallest norms of order `n`.

    Args:
        amount: how many slices, or which share
        n: the order of the norm
        dim: the dimension; default -1

    Example:
        >>> nn.utils.prune.LnStructured(amount=1, n=2).PRUNING_TYPE
        'structured'
    """

    def __init__(self, amount: float, n: float | str, dim: int = -1) -> None:
        super().__init__(amount)
        self.n = n
        self.dim = dim

    def _importance(self, t: Tensor) -> Tensor:
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return norm(t, self.n, others)


class CustomFromMask(BasePruningMethod):
    """Drops the elements where `mask` is zero.

    Args:
        mask: zero where elements are dropped

    Example:
        >>> nn.utils.prune.CustomFromMask(torch.tensor([1, 0])).mask
        tensor([1, 0])
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"the mask must have the shape of the parameter, {default_mask.shape}, got {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _check_amount(amount: float) -> None:
    """Raises TypeError or ValueError unless the amount is a share in [0, 1] or a non-negative integer."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or (not isinstance(amount, numbers.Integral) and amount > 1.0):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0.0, 1.0] or a non-negative integer"
        )
