"""Distributions of positive numbers and angles: Exponential, Gamma, Chi2,
FisherSnedecor, GeneralizedPareto and VonMises."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions.distribution import _INF, _NAN, Distribution
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.utils import _tiny


class Exponential(ExponentialFamily):
    """The waiting time until an event that happens `rate` times per unit of time; its density is
    rate * exp(-rate x).

    Args:
        rate: the rate, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Exponential(torch.tensor(2.0)).cdf(torch.tensor(0.0))
        tensor(0.)
    """

    arg_constraints = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = ("rate",)
    rate: Tensor

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self._initialize(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    stddev = mean

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return self.rate.log() - self.rate * self._checked(value)

    def cdf(self, value: Tensor) -> Tensor:
        return -torch.expm1(-self.rate * self._checked(value))

    def icdf(self, value: Tensor) -> Tensor:
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return -torch.log(-x)


class Gamma(ExponentialFamily):
    """The gamma distribution, with density proportional to x ** (concentration - 1) exp(-rate x).

    `rsample` is differentiable with respect to `concentration` by implicit gradients.

    Args:
        concentration: the concentration, positive
        rate: the rate, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Gamma(2.0, 4.0).mean
        tensor(0.5000)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = ("concentration", "rate")
    concentration: Tensor
    rate: Tensor

    def __init__(
        self, concentration: Tensor | float, rate: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._initialize(validate_args, concentration=concentration, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        # The logarithm of 0 would be infinite. Clamping does not change the gradient.
        value.detach().clamp_(min=_tiny(value))
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(torch.as_tensor(value, dtype=self.rate.dtype, device=self.rate.device))
        powers = torch.xlogy(self.concentration, self.rate) + torch.xlogy(self.concentration - 1, value)
        return powers - self.rate * value - torch.lgamma(self.concentration)

    def cdf(self, value: Tensor) -> Tensor:
        return torch.special.gammainc(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        a = self.concentration
        return a - torch.log(self.rate) + torch.lgamma(a) + (1.0 - a) * torch.digamma(a)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return torch.lgamma(x + 1) - (x + 1) * torch.log(-y)


class Chi2(Gamma):
    """The chi-squared distribution, of the sum of squares of `df` standard normal variables.

    Args:
        df: the degrees of freedom, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Chi2(torch.tensor(3.0)).mean
        tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}
    _parameters = ("concentration", "rate")

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """The number of degrees of freedom."""
        return self.concentration * 2


class FisherSnedecor(Distribution):
    """The F-distribution, of the ratio of two chi-squared variables divided by their degrees of freedom `df1`
    and `df2`.

    Args:
        df1: the degrees of freedom of the first variable, positive
        df2: those of the second, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> FisherSnedecor(2.0, 4.0).mean
        tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _parameters = ("df1", "df2")
    df1: Tensor
    df2: Tensor

    def __init__(self, df1: Tensor | float, df2: Tensor | float, validate_args: bool | None = None) -> None:
        self._initialize(validate_args, df1=df1, df2=df2)

    @property
    def mean(self) -> Tensor:
        return (self.df2 / (self.df2 - 2)).masked_fill(self.df2 <= 2, _NAN)

    @property
    def mode(self) -> Tensor:
        return ((self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)).masked_fill(self.df1 <= 2, _NAN)

    @property
    def variance(self) -> Tensor:
        a = self.df1
        b = self.df2
        return (2 * b.pow(2) * (a + b - 2) / (a * (b - 2).pow(2) * (b - 4))).masked_fill(b <= 4, _NAN)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        upper, lower = (
            Gamma(0.5 * df, df, validate_args=False).rsample(sample_shape) for df in (self.df1, self.df2)
        )
        tiny = _tiny(lower)
        lower.detach().clamp_(min=tiny)
        # A chi-squared variable divided by df is a gamma variable of shape df/2 and rate df/2.
        value = upper / lower
        value.detach().clamp_(min=tiny)
        return value

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        a = 0.5 * self.df1
        b = 0.5 * self.df2
        ratio = self.df1 / self.df2
        log_beta = a.lgamma() + b.lgamma() - (a + b).lgamma()
        return a * ratio.log() + (a - 1) * torch.log(value) - (a + b) * torch.log1p(ratio * value) - log_beta


class GeneralizedPareto(Distribution):
    """The distribution of values beyond a high threshold.

    The survival function is (1 + concentration z) ** (-1 / concentration) with z = (x - loc) / scale, or
    exp(-z) for concentration 0.

    If `concentration` is negative, the support ends at loc - scale / concentration.

    Args:
        loc: the threshold
        scale: the scale, positive
        concentration: the shape, any real number
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> GeneralizedPareto(0.0, 1.0, torch.tensor([-0.5, 0.0, 0.25])).mean
        tensor([0.6667, 1.0000, 1.3333])
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _parameters = ("loc", "scale", "concentration")
    loc: Tensor
    scale: Tensor
    concentration: Tensor

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self._initialize(validate_args, loc=loc, scale=scale, concentration=concentration)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, _INF)
        return constraints.interval(self.loc, end)

    def _nonzero(self) -> tuple[Tensor, Tensor]:
        """Where the concentration is 0, and the concentrations with 1 in these places."""
        zero = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        return zero, torch.where(zero, 1.0, self.concentration)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability of a value above `value`."""
        z = self._z(self._checked(value))
        zero, k = self._nonzero()
        return torch.where(zero, -z, -torch.log1p(k * z) / k)

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._z(self._checked(value))
        zero, k = self._nonzero()
        return torch.where(zero, -z, -(1 / k + 1) * torch.log1p(k * z)) - self.scale.log()

    def cdf(self, value: Tensor) -> Tensor:
        return -torch.expm1(self.log_survival_function(value))

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return torch.log(self.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        zero, k = self._nonzero()
        left = torch.log1p(-value)
        return self.loc + self.scale * torch.where(zero, -left, torch.expm1(-k * left) / k)

    @property
    def mean(self) -> Tensor:
        k = self.concentration
        return (self.loc + self.scale / (1 - k)).masked_fill(k >= 1, _NAN)

    @property
    def variance(self) -> Tensor:
        k = self.concentration
        return (self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k))).masked_fill(k >= 0.5, _NAN)

    def entropy(self) -> Tensor:
        return (torch.log(self.scale) + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> Tensor:
        return self.loc


class VonMises(Distribution):
    """Angles in [-pi, pi) around `loc`, with density proportional to exp(concentration cos(x - loc)).

    `log_prob` accepts any real number.

    `variance` is the circular variance, 1 - I1(k) / I0(k) for concentration k. Samples are drawn by rejection
    (Best and Fisher 1979).

    Args:
        loc: the mean angle in radians
        concentration: the concentration, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> VonMises(torch.tensor(1.0), torch.tensor(4.0)).mean
        tensor(1.)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _parameters = ("loc", "concentration")
    loc: Tensor
    concentration: Tensor

    def __init__(
        self, loc: Tensor | float, concentration: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self._initialize(validate_args, loc=loc, concentration=concentration)

    def log_prob(self, value: Tensor) -> Tensor:
        k = self.concentration
        # I0(k) overflows, but its exponentially scaled form does not.
        return (
            k * (torch.cos(self._checked(value) - self.loc) - 1)
            - math.log(2 * math.pi)
            - torch.special.i0e(k).log()
        )

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            angles = _von_mises(self.concentration.double().expand(shape))
            result = (angles + math.pi + self.loc.double()) % (2 * math.pi) - math.pi
            return result.to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """The circular mean, the direction of the mean of (cos x, sin x)."""
        return self.loc

    mode = mean

    @property
    def variance(self) -> Tensor:
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)


_NEARLY_NORMAL = 1e8  # a concentration from which on the normal distribution is as exact


def _von_mises(k: Tensor) -> Tensor:
    """Draws angles around 0 for concentrations `k` in float64; proposals from a wrapped Cauchy distribution
    with parameter r are made until all are accepted.

    Beyond `_NEARLY_NORMAL`, r - 1 has few digits left and the normal limit is used. The result is nan where k
    is not positive.
    """
    k = torch.where(k > 0, k, _NAN)
    tau = 1 + (1 + 4 * k**2).sqrt()
    rho = (tau - (2 * tau).sqrt()) / (2 * k)
    r = torch.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    normal = k > _NEARLY_NORMAL
    if normal.any():
        result = torch.where(normal, torch.randn_like(k) * k.rsqrt(), _NAN)
    else:
        result = torch.full_like(k, _NAN)

    pending = k <= _NEARLY_NORMAL
    while pending.any():
        first, second, third = torch.rand((3, *k.shape), dtype=k.dtype, device=k.device).unbind()
        z = torch.cos(math.pi * first)
        f = (1 + r * z) / (r + z)
        c = k * (r - f)

        accepted = pending & ((c * (2 - c) - second > 0) | ((c / second).log() + 1 - c >= 0))
        angle = (third - 0.5).sign() * f.clamp(min=-1, max=1).acos()
        result = torch.where(accepted, angle, result)
        pending = pending & ~accepted

    return result
