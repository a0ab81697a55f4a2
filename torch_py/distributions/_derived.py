"""Distributions of powers, exponentials and absolute values of normal, Cauchy, gamma and other variables."""

from __future__ import annotations

import math
from typing import Any

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions import constraints
from torch_py.distributions._combinators import TransformedDistribution
from torch_py.distributions._positive import Exponential, Gamma
from torch_py.distributions._real_line import _LOCATION_SCALE, Cauchy, Normal
from torch_py.distributions.distribution import _INF
from torch_py.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from torch_py.distributions.utils import broadcast_all, euler_constant


class LogNormal(TransformedDistribution):
    """The distribution of exp(x) for a normal variable x with mean `loc` and standard deviation `scale`.

    Args:
        loc: the mean of the logarithm
        scale: the standard deviation of the logarithm, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> LogNormal(0.0, 1.0).mode
        tensor(0.3679)
    """

    arg_constraints = _LOCATION_SCALE
    support = constraints.positive
    has_rsample = True
    base_dist: Normal
    _parameters = ()

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(
            Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args
        )

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class LogisticNormal(TransformedDistribution):
    """Vectors of the simplex with D + 1 parts: the `StickBreakingTransform` of D independent normal
    variables.

    Args:
        loc: (..., D), the means
        scale: (..., D), the standard deviations, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> LogisticNormal(torch.zeros(2), torch.ones(2)).event_shape
        torch.Size([3])
    """

    arg_constraints = _LOCATION_SCALE
    support = constraints.simplex
    has_rsample = True
    _parameters = ()

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the normal variables."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal variables."""
        return self.base_dist.base_dist.scale


class _Half(TransformedDistribution):
    """The distribution of |x| for a variable x that is symmetric around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _parameters = ()

    @property
    def scale(self) -> Tensor:
        """The scale of the variable before its absolute value is taken."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        log_prob = self.base_dist.log_prob(self._checked(value)) + math.log(2)
        return torch.where(value >= 0, log_prob, -_INF)

    def cdf(self, value: Tensor) -> Tensor:
        return (2 * self.base_dist.cdf(self._checked(value)) - 1).clamp(min=0)

    def icdf(self, prob: Tensor) -> Tensor:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)


class HalfNormal(_Half):
    """The distribution of |x| for a normal variable x with mean 0 and standard deviation `scale`.

    Args:
        scale: the standard deviation of the normal variable, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> HalfNormal(2.0).mean
        tensor(1.5958)
    """

    base_dist: Normal
    _parameters = ()

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)


class HalfCauchy(_Half):
    """The distribution of |x| for a Cauchy variable x around 0 with the given `scale`.

    Args:
        scale: the scale, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> HalfCauchy(1.0).icdf(torch.tensor(0.5))
        tensor(1.)
    """

    base_dist: Cauchy
    _parameters = ()

    def __init__(self, scale: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        checked = self._checked(value)
        return super().log_prob(torch.as_tensor(checked, dtype=self.scale.dtype, device=self.scale.device))

    @property
    def mean(self) -> Tensor:
        return torch.full_like(self.scale, _INF)

    variance = mean


class InverseGamma(TransformedDistribution):
    """The distribution of 1 / x for a gamma variable x.

    Args:
        concentration: the concentration, positive
        rate: the rate, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> InverseGamma(3.0, 1.0).mean
        tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma
    _parameters = ()

    def __init__(
        self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None
    ) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(
            base, PowerTransform(exponent=-torch.ones_like(base.rate)), validate_args=validate_args
        )

    @property
    def concentration(self) -> Tensor:
        """The shape of the gamma variable."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma variable."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        a = self.concentration
        return (self.rate / (a - 1)).masked_fill(a <= 1, _INF)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        a = self.concentration
        return (self.rate.square() / ((a - 1).square() * (a - 2))).masked_fill(a <= 2, _INF)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Pareto(TransformedDistribution):
    """The Pareto distribution on [scale, inf), with survival function (scale / x) ** alpha.

    Args:
        scale: the lower end of the support, positive
        alpha: the shape, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Pareto(1.0, 2.0).mean
        tensor(2.)
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _parameters = ("scale", "alpha")

    def __init__(
        self, scale: Tensor | float, alpha: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(
            base, [ExpTransform(), AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args
        )

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        a = self.alpha.clamp(min=1)  # the mean is infinite for alpha <= 1
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        a = self.alpha.clamp(min=2)  # the variance is infinite for alpha <= 2
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Tensor:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """The Weibull distribution of positive values, with survival function exp(-(x / scale) ** concentration).

    Args:
        scale: the scale, positive
        concentration: the shape, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Weibull(2.0, 1.0).mean
        tensor(2.)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _parameters = ("scale", "concentration", "concentration_reciprocal")

    def __init__(
        self, scale: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        power = PowerTransform(exponent=self.concentration_reciprocal)
        super().__init__(base, [power, AffineTransform(loc=0, scale=self.scale)], validate_args=validate_args)

    def _moment(self, n: int) -> Tensor:
        return torch.exp(torch.lgamma(1 + n * self.concentration_reciprocal))

    @property
    def mean(self) -> Tensor:
        return self.scale * self._moment(1)

    @property
    def mode(self) -> Tensor:
        k = self.concentration
        return self.scale * ((k - 1) / k).clamp(min=0) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (self._moment(2) - self._moment(1).pow(2))

    def entropy(self) -> Tensor:
        return (
            euler_constant * (1 - self.concentration_reciprocal)
            + torch.log(self.scale * self.concentration_reciprocal)
            + 1
        )
