"""Transforms of vectors and matrices: to the simplex, to Cholesky factors, reshaping, and several transforms
on parts of a tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._elementwise_transforms import _clipped_sigmoid, _Plain
from torch_py.distributions._transform import Transform
from torch_py.distributions.constraints._base import _require
from torch_py.distributions.utils import (
    _eps,
    _sum_rightmost,
    _tiny,
    lazy_property,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)
from torch_py.nn.functional import logsigmoid, pad, softplus


def _at_least(shape: Sequence[int], dims: int) -> None:
    if len(shape) < dims:
        raise ValueError(
            f"Too few dimensions on input: expected at least {dims}, but got shape {tuple(shape)}"
        )


class SoftmaxTransform(_Plain):
    """y = softmax(x) over the last dimension.

    It is not bijective, since x + c gives the same y; `inv` is the logarithm.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.SoftmaxTransform()(torch.zeros(2))
        tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return torch.softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        _at_least(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(_Plain):
    """Maps (*, D) to the simplex (*, D + 1): the sigmoid of each number is the share that is broken off the
    remaining part of a stick of length 1.

    The numbers are shifted so that x = 0 gives equal parts (Stan's reference manual, "Unit simplexes").

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> StickBreakingTransform()(torch.zeros(2))
        tensor([0.3333, 0.3333, 0.3333])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    @staticmethod
    def _log_left(x: Any) -> Tensor:
        """The logarithm of the number of remaining pieces: D, D - 1, ..., 1."""
        return torch.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Any) -> Any:
        broken = _clipped_sigmoid(x - self._log_left(x))
        left = (1 - broken).cumprod(-1)
        return pad(broken, [0, 1], value=1) * pad(left, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        pieces = y[..., :-1]
        left = torch.clamp(1 - pieces.cumsum(-1), min=_tiny(y))
        return pieces.log() - left.log() + self._log_left(pieces)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._log_left(x)
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(_Plain):
    """Maps square matrices to Cholesky factors: keeps the part below the diagonal, applies exp on it.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(_Plain):
    """Maps square matrices to positive definite matrices L L^T, with L from `LowerCholeskyTransform`.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    """Maps (*, D(D - 1)/2) to Cholesky factors of correlation matrices, (*, D, D).

    tanh(x) are the canonical partial correlations below the diagonal. In each row, every entry takes its
    share of what the squares of the previous entries leave of 1 (Lewandowski, Kurowicka and Joe 2009; Stan's
    reference manual, "Cholesky factors of correlation matrices").

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> CorrCholeskyTransform()(torch.zeros(1))
        tensor([[1., 0.],
                [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        partial = torch.tanh(x).clamp(min=-1 + _eps(x), max=1 - _eps(x))
        partial = vec_to_tril_matrix(partial, diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        unit = partial + torch.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return unit * pad(left[..., :-1], [1, 0], value=1)

    @staticmethod
    def _left(y: Any) -> Tensor:
        """1 minus the sum of squares, after each entry of a row."""
        return 1 - (y * y).cumsum(-1)

    def _inverse(self, y: Any) -> Any:
        left = pad(self._left(y)[..., :-1], [1, 0], value=1)
        partial = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates: Tensor | None = None) -> Tensor:
        sticks = 0.5 * tril_matrix_to_vec(self._left(y), diag=-2).log().sum(-1)
        return sticks - 2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        _at_least(shape, 1)
        count = shape[-1]
        size = (1 + math.isqrt(1 + 8 * count)) // 2
        if size * (size - 1) // 2 != count:
            raise ValueError(f"Input is not a flattened lower-diagonal number: {count}")
        return shape[:-1] + (size, size)

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        _at_least(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError(f"Input is not square: {tuple(shape)}")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class ReshapeTransform(Transform):
    """Reshapes the rightmost dimensions from `in_shape` to `out_shape`.

    Args:
        in_shape: the shape of an event before
        out_shape: the shape of an event after
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> ReshapeTransform((2, 3), (6,)).forward_shape((5, 2, 3))
        torch.Size([5, 6])
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError(
                f"in_shape, out_shape have different numbers of elements: {tuple(in_shape)}, "
                f"{tuple(out_shape)}"
            )
        super().__init__(cache_size=cache_size)

    def _arguments(self) -> dict[str, Any]:
        return {"in_shape": self.in_shape, "out_shape": self.out_shape}

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[: x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[: y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    @staticmethod
    def _exchanged(shape: Any, old: Size, new: Size) -> Any:
        _at_least(shape, len(old))
        cut = len(shape) - len(old)
        if tuple(shape[cut:]) != tuple(old):
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return Size(shape[:cut]) + new

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        return self._exchanged(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self._exchanged(shape, self.out_shape, self.in_shape)


class _Parts(Transform):
    """Several transforms, each applied to its part of a tensor along dimension `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        _require(
            all(isinstance(t, Transform) for t in tseq), "All elements of tseq must be Transform instances"
        )
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    def _arguments(self) -> dict[str, Any]:
        return {"tseq": self.transforms, "dim": self.dim}

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return all(t.bijective for t in self.transforms)

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        raise NotImplementedError

    def _slices(self, value: Tensor) -> Sequence[Tensor]:
        _require(
            -value.dim() <= self.dim < value.dim(),
            f"dim {self.dim} is outside of a value with {value.dim()} dimensions",
        )
        return self._split(value)

    @staticmethod
    def _join(parts: list[Tensor], dim: int) -> Tensor:
        raise NotImplementedError

    def _call(self, x: Any) -> Any:
        return self._join([t(part) for t, part in zip(self.transforms, self._slices(x))], self.dim)

    def _inverse(self, y: Any) -> Any:
        return self._join([t.inv(part) for t, part in zip(self.transforms, self._slices(y))], self.dim)


class CatTransform(_Parts):
    """Applies each transform to a part of the tensor along `dim`, of the given `lengths` (default: 1 each),
    and joins the results like torch.cat.

    Args:
        tseq: the transforms
        dim: the dimension; default 0
        lengths: the lengths of the parts; default None, 1 each
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> t = CatTransform([ExpTransform(), identity_transform], dim=0, lengths=[1, 2])
        >>> t(torch.zeros(3))
        tensor([1., 0., 0.])
    """

    def __init__(
        self,
        tseq: Sequence[Transform],
        dim: int = 0,
        lengths: Sequence[int] | None = None,
        cache_size: int = 0,
    ) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        _require(
            len(self.lengths) == len(self.transforms),
            f"lengths ({len(self.lengths)}) must match tseq ({len(self.transforms)})",
        )

    def _arguments(self) -> dict[str, Any]:
        return {**super()._arguments(), "lengths": self.lengths}

    @lazy_property
    def event_dim(self) -> int:
        """The largest number of event dimensions of the parts."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The size of the whole dimension."""
        return sum(self.lengths)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        _require(
            value.size(self.dim) == self.length,
            f"x.size({self.dim}) = {value.size(self.dim)} must equal length {self.length}",
        )
        return value.split(self.lengths, self.dim)

    @staticmethod
    def _join(parts: list[Tensor], dim: int) -> Tensor:
        return torch.cat(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = []
        for t, before, after in zip(self.transforms, self._slices(x), self._slices(y)):
            terms.append(_sum_rightmost(t.log_abs_det_jacobian(before, after), self.event_dim - t.event_dim))
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(terms, dim) if dim < 0 else sum(terms)  # type: ignore[return-value]


class StackTransform(_Parts):
    """Applies each transform to a slice of the tensor along `dim`, and joins the results like torch.stack.

    Args:
        tseq: the transforms
        dim: the dimension; default 0
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> StackTransform([ExpTransform(), identity_transform], dim=1)(torch.zeros(1, 2))
        tensor([[1., 0.]])
    """

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _split(self, value: Tensor) -> Sequence[Tensor]:
        count = value.size(self.dim)
        _require(
            count == len(self.transforms),
            f"x.size({self.dim}) = {count} must equal len(transforms) {len(self.transforms)}",
        )
        return value.unbind(self.dim)

    @staticmethod
    def _join(parts: list[Tensor], dim: int) -> Tensor:
        return torch.stack(parts, dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        pairs = zip(self.transforms, self._slices(x), self._slices(y))
        return torch.stack([t.log_abs_det_jacobian(before, after) for t, before, after in pairs], self.dim)
