"""Reductions of `torch.masked`: what is computed from the elements where `mask` is True.

A mask has a shape that broadcasts to that of the input, without more dimensions; without one, every element
counts. A MaskedTensor brings its own. `dim` is a dimension, several, or None for all. `dtype` is the dtype
that the input is converted to first. Of no elements, sums are 0, products 1, minima and maxima the highest
and lowest numbers of the dtype, and means and medians NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.masked._masks import _canonical_dim, any_valid, data_and_mask, filled

_torch = _C._torch
_Dims = int | Sequence[int] | None
_Unsummed = (_C.bool, _C.uint8, _C.int8, _C.int16, _C.int32)


def _sum_dtype(input: Tensor, dtype: Any) -> Any:
    """Sums and products of integers are int64."""
    if dtype is not None:
        return dtype
    return _C.int64 if input.dtype in _Unsummed else input.dtype


def _reduce_dims(function: Any, input: Tensor, dim: _Dims, keepdim: bool, **more: Any) -> Tensor:
    """`function` over the dimensions; a tensor without dimensions is one element."""
    dims = _canonical_dim(dim, input.dim())
    if input.dim() == 0:
        return function(input, dim=(0,), keepdim=keepdim, **more)
    return function(input, dim=dims, keepdim=keepdim, **more)


def sum(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The sum of the elements that `mask` lets through.

    >>> masked.sum(torch.tensor([[1, 2], [3, 4]]), 1, mask=torch.tensor([True, False]))
    tensor([1, 3])
    """
    data, valid = data_and_mask("sum", input, mask)
    dtype = _sum_dtype(data, dtype)
    return _reduce_dims(_torch.sum, filled("sum", data, valid).to(dtype), dim, keepdim, dtype=dtype)


def prod(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The product of the elements that `mask` lets through.

    >>> masked.prod(torch.tensor([[1, 2], [3, 4]]), 0, mask=torch.tensor([True, False]))
    tensor([3, 1])
    """
    data, valid = data_and_mask("prod", input, mask)
    dtype = _sum_dtype(data, dtype)
    result = filled("prod", data, valid).to(dtype)

    if result.dim() == 0:
        return result.clone()
    for one in sorted(_canonical_dim(dim, result.dim()), reverse=True):
        result = _torch.prod(result, one, keepdim, dtype=dtype)
    return result


def amax(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The largest of the elements that `mask` lets through; the lowest number of the dtype without any.

    >>> masked.amax(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, mask=torch.tensor([[True], [False]]))
    tensor([2., -inf])
    """
    data = _with_fill("amax", input, dtype, mask)
    return _reduce_dims(_torch.amax, data, dim, keepdim)


def amin(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The smallest of the elements that `mask` lets through; the highest number of the dtype without any.

    >>> masked.amin(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 1, mask=torch.tensor([False, True]))
    tensor([2., 4.])
    """
    data = _with_fill("amin", input, dtype, mask)
    return _reduce_dims(_torch.amin, data, dim, keepdim)


def argmax(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The position of the largest element that `mask` lets through, in the dtype of the input.

    >>> masked.argmax(torch.tensor([1, 5, 3]), mask=torch.tensor([True, False, True]))
    tensor(2)
    """
    data = _with_fill("argmax", input, dtype, mask)
    return _torch.argmax(data, dim, bool(keepdim)).to(data.dtype)


def argmin(
    input: Tensor,
    dim: int | None = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The position of the smallest element that `mask` lets through, in the dtype of the input.

    >>> masked.argmin(torch.tensor([1, 5, 3]), mask=torch.tensor([False, True, True]))
    tensor(2)
    """
    data = _with_fill("argmin", input, dtype, mask)
    return _torch.argmin(data, dim, bool(keepdim)).to(data.dtype)


def _with_fill(name: str, input: Tensor, dtype: Any, mask: Tensor | None) -> Tensor:
    """`input` in a dtype; masked elements are what does not change the result of the reduction `name`."""
    data, valid = data_and_mask(name, input, mask)
    return filled(name, data if dtype is None else data.to(dtype), valid)


def _count(input: Tensor, valid: Tensor | None, dim: _Dims) -> Tensor:
    """The number of valid elements, with the dimensions kept."""
    ones = _torch.ones(input.shape, dtype=_C.int64, device=input.device)
    return _reduce_dims(_torch.sum, ones if valid is None else ones * valid, dim, keepdim=True)


def _squeezed(result: Tensor, dim: _Dims, keepdim: bool) -> Tensor:
    """The result of a reduction without the dimensions that it was computed along, unless `keepdim`."""
    if keepdim or result.dim() == 0:
        return result
    return result.squeeze(_canonical_dim(dim, result.dim()))


def mean(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The mean of the elements that `mask` lets through; NaN without any.

    Raises ValueError for an input that is neither real nor complex, without `dtype`.

    >>> masked.mean(torch.tensor([1.0, 2.0, 6.0]), mask=torch.tensor([True, True, False]))
    tensor(1.5000)
    """
    data, valid = data_and_mask("mean", input, mask)
    dtype = dtype or data.dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(
            "mean(): Could not infer output dtype. Input dtype must be either a floating point or complex "
            f"dtype. Got: {dtype}"
        )

    total = sum(data, dim, keepdim=True, dtype=dtype, mask=valid)
    return _squeezed(total / _count(data, valid, dim), dim, keepdim)


def median(
    input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The lower median of the elements that `mask` lets through, along one dimension; NaN without any.

    Raises ValueError if integers would have to be NaN.

    >>> masked.median(torch.tensor([5.0, 1.0, 3.0]), mask=torch.tensor([True, True, False]))
    tensor(1.)
    """
    data, valid = data_and_mask("median", input, mask)
    data = data if dtype is None else data.to(dtype)
    if data.dtype.is_floating_point:
        return _torch.nanmedian(filled("median", data, valid), dim, keepdim).values

    if valid is not None and not bool(any_valid(valid, dim, False).all()):
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    numbers = filled("median", data.to(_C.float64), valid)
    return _torch.nanmedian(numbers, dim, keepdim).values.to(data.dtype)


def logsumexp(
    input: Tensor, dim: _Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of the sum of exp(x), over the elements that `mask` lets through; -inf without any.

    >>> masked.logsumexp(torch.zeros(3), mask=torch.tensor([True, True, False]))
    tensor(0.6931)
    """
    data, valid = data_and_mask("logsumexp", input, mask)
    data = data if dtype is None else data.to(dtype)
    return _reduce_dims(_torch.logsumexp, filled("logsumexp", data, valid), dim, keepdim).to(data.dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: _Dims = None,
    *,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The norm of order `ord` of the elements that `mask` lets through, as `torch.linalg.vector_norm`.

    >>> masked.norm(torch.tensor([3.0, 4.0, 9.0]), 2.0, mask=torch.tensor([True, True, False]))
    tensor(5.)
    """
    data, valid = data_and_mask("norm", input, mask)
    return _C._linalg.vector_norm(
        filled("norm", data, valid, ord),
        ord,
        _canonical_dim(dim, data.dim()) or None,
        bool(keepdim),
        dtype=dtype,
    )


def _correction(name: str, unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is not None:
        return correction
    return 1 if unbiased is None else int(unbiased)


def var(
    input: Tensor,
    dim: _Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The variance of the n elements that `mask` lets through: the sum of squared distances from their mean,
    divided by n - correction. `unbiased` is another word for a `correction` of 1 (the default) or 0.

    >>> masked.var(torch.tensor([1.0, 3.0, 9.0]), unbiased=False, mask=torch.tensor([True, True, False]))
    tensor(1.)
    """
    fewer = _correction("var", unbiased, correction)
    data, valid = data_and_mask("var", input, mask)
    if dtype is None:
        exact = data.dtype.is_floating_point or data.dtype.is_complex
        dtype = data.dtype if exact else _C.get_default_dtype()

    count = _count(data, valid, dim)
    centre = sum(data, dim, keepdim=True, dtype=dtype, mask=valid) / count
    distance = _torch.sub(data, centre)
    squares = (distance * distance.conj()).real if distance.is_complex() else distance * distance

    total = sum(squares.to(squares.dtype if dtype.is_complex else dtype), dim, keepdim=True, mask=valid)
    return _squeezed(total / _torch.clamp(count - fewer, min=0), dim, keepdim)


def std(
    input: Tensor,
    dim: _Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
    dtype: Any = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The standard deviation of the elements that `mask` lets through: the root of `var`.

    >>> masked.std(torch.tensor([1.0, 3.0, 9.0]), unbiased=False, mask=torch.tensor([True, True, False]))
    tensor(1.)
    """
    return _torch.sqrt(
        var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask)
    )
