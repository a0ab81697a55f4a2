"""Masked tensors from elements and a mask."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.autograd import Function
from torch_py.masked.maskedtensor.core import MaskedTensor, _check

__all__ = ["as_masked_tensor", "masked_tensor"]


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A new masked tensor, a leaf of the graph, with copies of `data` and `mask`.

    Raises TypeError unless both are tensors and `mask` is boolean, and ValueError if their shapes differ.

    >>> masked_tensor(torch.tensor([1, 2]), torch.tensor([True, False]))
    MaskedTensor(
      [1,       --]
    )
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """`data` as a masked tensor; gradients arrive at `data`, with the mask.

    Raises TypeError unless both are tensors and `mask` is boolean, and ValueError if their shapes differ.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> as_masked_tensor(x, torch.tensor([True, False])).sum().backward()
    >>> x.grad
    MaskedTensor(
      [  1.0000,       --]
    )
    """
    _check(data, mask)
    made: MaskedTensor = _WithMask.apply(data, mask)
    return made


class _WithMask(Function):
    @staticmethod
    def forward(ctx: Any, data: Tensor, mask: Tensor) -> MaskedTensor:
        return MaskedTensor._from_parts(data.detach().clone(), mask.detach().clone())

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad, None
