"""Functions of `torch.masked` that keep the shape: normalisation and accumulation along one dimension, and
`logaddexp`.

Elements where `mask` is False take no part. Their own results are those of the element that the operation
starts from: 0 in a softmax, and the accumulated value so far in `cumsum`.
"""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.masked._masks import _canonical_dim, data_and_mask, filled
from torch_py.masked._reductions import norm

_torch = _C._torch


def _prepared(operation: str, input: Tensor, dtype: Any, mask: Tensor | None) -> Tensor:
    data, valid = data_and_mask(operation, input, mask)
    return filled(operation, data if dtype is None else data.to(dtype), valid)


def _one_dim(dim: int, input: Tensor) -> int:
    return _canonical_dim(dim, input.dim())[0]


def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """exp(x) divided by its sum along `dim`. Rows that are masked out are NaN.

    >>> masked.softmax(torch.zeros(3), 0, mask=torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    prepared = _prepared("softmax", input, dtype, mask)
    return _torch.softmax(prepared, _one_dim(dim, prepared))


def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The logarithm of `softmax`. Rows that are masked out are NaN.

    >>> masked.log_softmax(torch.zeros(3), 0, mask=torch.tensor([True, True, False]))
    tensor([-0.6931, -0.6931,    -inf])
    """
    prepared = _prepared("log_softmax", input, dtype, mask)
    return _torch.log_softmax(prepared, _one_dim(dim, prepared))


def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of -x. Rows that are masked out are NaN.

    >>> masked.softmin(torch.zeros(3), 0, mask=torch.tensor([True, True, False]))
    tensor([0.5000, 0.5000, 0.0000])
    """
    prepared = _prepared("softmin", input, dtype, mask)
    return _torch.softmax(-prepared, _one_dim(dim, prepared))


def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """x / max(norm, eps), with the norm of order `ord` along `dim`. Masked elements are 0.

    >>> masked.normalize(torch.tensor([3.0, 4.0, 9.0]), 2.0, 0, mask=torch.tensor([True, True, False]))
    tensor([0.6000, 0.8000, 0.0000])
    """
    data, valid = data_and_mask("normalize", input, mask)
    data = data if dtype is None else data.to(dtype)
    size = norm(data, ord, _one_dim(dim, data), keepdim=True, dtype=dtype, mask=valid)

    kept = filled("sum", data, valid)
    return kept / _torch.maximum(size, _torch.full([], eps, dtype=size.dtype, device=size.device))


def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The sum of the elements up to each position along `dim`, in the dtype of the input.

    >>> masked.cumsum(torch.tensor([1, 2, 3]), 0, mask=torch.tensor([True, False, True]))
    tensor([1, 1, 4])
    """
    prepared = _prepared("cumsum", input, dtype, mask)
    return _torch.cumsum(prepared, _one_dim(dim, prepared), dtype=prepared.dtype)


def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """The product of the elements up to each position along `dim`, in the dtype of the input.

    >>> masked.cumprod(torch.tensor([2, 3, 4]), 0, mask=torch.tensor([True, False, True]))
    tensor([2, 2, 8])
    """
    prepared = _prepared("cumprod", input, dtype, mask)
    return _torch.cumprod(prepared, _one_dim(dim, prepared), dtype=prepared.dtype)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: Any = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """log(exp(x) + exp(y)); a masked element of one adds nothing, and both give -inf.

    >>> masked.logaddexp(torch.zeros(2), torch.zeros(2), other_mask=torch.tensor([True, False]))
    tensor([0.6931, 0.0000])
    """
    first = _prepared("logaddexp", input, dtype, input_mask)
    second = _prepared("logaddexp", other, dtype, other_mask)
    return _torch.logaddexp(first, second)
