"""Transforms that apply to each element separately."""

from __future__ import annotations

import math
from typing import Any

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions import constraints
from torch_py.distributions._transform import Transform
from torch_py.distributions.utils import _eps, _sum_rightmost, _tiny, broadcast_all, lazy_property
from torch_py.nn.functional import softplus

_NUMBERS = (int, float, bool)


class _Plain(Transform):
    """A transform without parameters, so that all instances of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))


class _Rising(_Plain):
    """An increasing bijection from the real numbers."""

    domain = constraints.real
    bijective = True
    sign = 1


class ExpTransform(_Rising):
    """y = exp(x), from the real to the positive numbers.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.ExpTransform()(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


def _clipped_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, strictly inside (0, 1) so that logarithms of it and its complement are finite."""
    return torch.clamp(torch.sigmoid(x), min=_tiny(x), max=1.0 - _eps(x))


class SigmoidTransform(_Rising):
    """y = 1 / (1 + exp(-x)), kept inside (0, 1).

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.SigmoidTransform()(torch.tensor([0.0]))
        tensor([0.5000])
    """

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        y = y.clamp(min=_tiny(y), max=1.0 - _eps(y))
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Rising):
    """y = log(1 + exp(x)); from x = 20 on, y = x.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.SoftplusTransform()(torch.tensor([0.0]))
        tensor([0.6931])
    """

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Rising):
    """y = tanh(x). Near ±1 the inverse loses precision; `cache_size=1` avoids computing it.

    >>> TanhTransform().log_abs_det_jacobian(torch.tensor(0.0), torch.tensor(0.0))
    tensor(0.)
    """

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))  # log(1 - tanh^2) without cancellation


class AbsTransform(_Plain):
    """y = |x|. It is not invertible; `inv` returns y.

    Args:
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> torch.distributions.AbsTransform()(torch.tensor([-1.0, 2.0]))
        tensor([1., 2.])
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class PowerTransform(Transform):
    """y = x ** exponent for positive x.

    Args:
        exponent: the power
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> PowerTransform(torch.tensor(2.0)).inv(torch.tensor(9.0))
        tensor(3.)
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _arguments(self) -> dict[str, Any]:
        return {"exponent": self.exponent}

    @lazy_property
    def sign(self) -> Tensor:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(self.exponent.eq(other.exponent).all().item())

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.exponent, "shape", ()))

    inverse_shape = forward_shape


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, _NUMBERS) and isinstance(other, _NUMBERS):
        return one == other
    return bool(torch.as_tensor(one == other).all().item())


class AffineTransform(Transform):
    """y = loc + scale * x; the last `event_dim` dimensions are one event.

    Args:
        loc: what is added
        scale: the factor
        event_dim: how many of the last dimensions are one event; default 0
        cache_size: 1 keeps the last pair of argument and result, so that `inv` of it is exact; default 0

    Example:
        >>> t = AffineTransform(1.0, torch.tensor([2.0, 4.0]), event_dim=1)
        >>> t.log_abs_det_jacobian(torch.zeros(2), torch.ones(2)).exp()
        tensor(8.)
    """

    bijective = True

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    def _arguments(self) -> dict[str, Any]:
        return {"loc": self.loc, "scale": self.scale, "event_dim": self._event_dim}

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if not self.event_dim:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _same(self.loc, other.loc)
            and _same(self.scale, other.scale)
        )

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, _NUMBERS):
            return (self.scale > 0) - (self.scale < 0)
        return self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, _NUMBERS):
            each = torch.full_like(x, math.log(abs(self.scale)))
        else:
            each = self.scale.abs().log()
            each = each.expand(torch.broadcast_shapes(x.shape, each.shape))
        return _sum_rightmost(each, self.event_dim)

    def forward_shape(self, shape: tuple[int, ...]) -> Any:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape
