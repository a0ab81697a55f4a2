"""`Transform`, its inverse, compositions, and transforms that treat more dimensions as one event."""

from __future__ import annotations

import weakref
from typing import Any

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions import constraints
from torch_py.distributions.utils import _sum_rightmost, lazy_property


class Transform:
    """An invertible map with a known log |det Jacobian|.

    Subclasses define `domain`, `codomain`, `_call`, `_inverse` and `log_abs_det_jacobian`. `bijective` says
    whether `_inverse` is a true inverse, and `sign` whether an elementwise transform is increasing (1) or
    decreasing (-1). With `cache_size` 1 the last pair is kept, so that the inverse of the last result is
    exact and free; 0 keeps nothing.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.ExpTransform().inv(torch.tensor([1.0]))
        tensor([0.])
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, but got {cache_size}")
        self._cache_size = cache_size
        self._inv: Any = None  # a weak reference to the inverse
        self._cached_x_y: tuple[Any, Any] = (None, None)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        """The number of dimensions of an event. Raises ValueError if domain and codomain differ."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse transform; ``t.inv.inv`` is ``t``."""
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """1 for an increasing transform, -1 for a decreasing one."""
        raise NotImplementedError

    def _arguments(self) -> dict[str, Any]:
        """The arguments of the constructor except cache_size, for `with_cache`."""
        if type(self).__init__ is not Transform.__init__:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return {}

    def with_cache(self, cache_size: int = 1) -> Any:
        """This transform, or a copy of it with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        return type(self)(**self._arguments(), cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __call__(self, x: Tensor) -> Any:
        if self._cache_size == 0:
            return self._call(x)
        known_x, known_y = self._cached_x_y
        if x is known_x:
            return known_y

        y = self._call(x)
        self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size == 0:
            return self._inverse(y)
        known_x, known_y = self._cached_x_y
        if y is known_y:
            return known_x

        x = self._inverse(y)
        self._cached_x_y = x, y
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx| for y = self(x), one value per event."""
        raise NotImplementedError

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        """The shape of self(x), given the shape of x."""
        return shape

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        """The shape of x, given the shape of self(x)."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    """The inverse of a transform. It shares the transform's cache."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Transform = transform

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__  # _inv is the transform itself, which can be pickled

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return self._inv.domain

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Any:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self._inv.forward_shape(shape)


def _widened(constraint: Any, event_dim: int) -> Any:
    """`constraint` for events of `event_dim` dimensions."""
    extra = event_dim - constraint.event_dim
    return constraints.independent(constraint, extra) if extra else constraint


class ComposeTransform(Transform):
    """The composition of `parts`, applied in order.

    Args:
        parts: the transforms, the first of which is applied first
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])(torch.tensor(-0.5))
        tensor(1.)
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if not self.parts:
            return constraints.real

        # The number of dimensions that the last part needs, counted before the first.
        event_dim = self.parts[-1].codomain.event_dim
        for part in reversed(self.parts):
            event_dim = max(
                event_dim + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim
            )

        return _widened(self.parts[0].domain, event_dim)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        if not self.parts:
            return constraints.real

        event_dim = self.parts[0].domain.event_dim
        for part in self.parts:
            event_dim = max(
                event_dim + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim
            )

        return _widened(self.parts[-1].codomain, event_dim)

    @lazy_property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        sign = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def _arguments(self) -> dict[str, Any]:
        return {"parts": self.parts}

    def __call__(self, x: Tensor) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return torch.zeros_like(x)

        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)

        event_dim = self.domain.event_dim
        result: Any = None
        for part, before, after in zip(self.parts, values, values[1:]):
            term = _sum_rightmost(part.log_abs_det_jacobian(before, after), event_dim - part.domain.event_dim)
            result = term if result is None else result + term
            event_dim += part.codomain.event_dim - part.domain.event_dim

        return result

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n    " + ",\n    ".join(repr(part) for part in self.parts) + "\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """`base_transform` with its last `reinterpreted_batch_ndims` dimensions as one event, so that their log
    determinants are summed.

    Args:
        base_transform: the transform
        reinterpreted_batch_ndims: how many batch dimensions
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.IndependentTransform(torch.distributions.ExpTransform(), 1)(torch.zeros(2))
        tensor([1., 1.])
    """

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _arguments(self) -> dict[str, Any]:
        return {
            "base_transform": self.base_transform,
            "reinterpreted_batch_ndims": self.reinterpreted_batch_ndims,
        }

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Any) -> Any:
        if x.dim() < self.domain.event_dim:
            raise ValueError(
                f"Too few dimensions on input: expected at least {self.domain.event_dim}, but got {x.dim()}"
            )
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(
                f"Too few dimensions on input: expected at least {self.codomain.event_dim}, but got {y.dim()}"
            )
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: tuple[int, ...]) -> Any:
        return self.base_transform.inverse_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"
