"""Distributions of real numbers with a location and a scale: Normal, Laplace, Cauchy, StudentT, Gumbel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._bounded import Uniform
from torch_py.distributions._combinators import TransformedDistribution
from torch_py.distributions.distribution import _INF, _NAN, Distribution
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.transforms import AffineTransform, ExpTransform
from torch_py.distributions.utils import _eps, _standard_normal, _tiny, broadcast_all, euler_constant

_LOCATION_SCALE: dict[str, constraints.Constraint] = {"loc": constraints.real, "scale": constraints.positive}


class LocationScale(Distribution):
    """Base class of distributions of loc + scale * z; subclasses define how z is drawn."""

    has_rsample = True
    support = constraints.real
    _parameters: tuple[str, ...] = ()
    loc: Tensor
    scale: Tensor

    def _standard(self, value: Tensor) -> Tensor:
        """The z of `value`, after validation."""
        return (self._checked(value) - self.loc) / self.scale

    def _draw(self, shape: Size) -> Tensor:
        raise NotImplementedError

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        return self.loc + self.scale * self._draw(self._extended_shape(sample_shape))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


class Normal(LocationScale, ExponentialFamily):
    """The normal distribution with mean `loc` and standard deviation `scale`.

    Args:
        loc: the mean
        scale: the standard deviation, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Normal(torch.tensor([0.0, 1.0]), 2.0).cdf(torch.tensor(0.0))
        tensor([0.5000, 0.3085])
    """

    arg_constraints = _LOCATION_SCALE
    _mean_carrier_measure = 0
    _parameters = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self._initialize(validate_args, loc=loc, scale=scale)

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def _draw(self, shape: Size) -> Tensor:
        return _standard_normal(shape, dtype=self.loc.dtype, device=self.loc.device)

    def log_prob(self, value: Tensor) -> Tensor:
        return -0.5 * self._standard(value) ** 2 - self.scale.log() - 0.5 * math.log(2 * math.pi)

    def cdf(self, value: Tensor) -> Tensor:
        return 0.5 * (1 + torch.erf(self._standard(value) / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.loc / self.scale.pow(2), -0.5 * self.scale.pow(2).reciprocal()

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)


class Laplace(LocationScale):
    """The Laplace distribution, with density exp(-|x - loc| / scale) / (2 scale).

    Args:
        loc: the location
        scale: the scale, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Laplace(0.0, 1.0).variance
        tensor(2.)
    """

    arg_constraints = _LOCATION_SCALE
    _parameters = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self._initialize(validate_args, loc=loc, scale=scale)

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def _draw(self, shape: Size) -> Tensor:
        uniform = self.loc.new_empty(shape).uniform_(_eps(self.loc) - 1, 1)
        return -uniform.sign() * torch.log1p(-uniform.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        return -torch.log(2 * self.scale) - self._standard(value).abs()

    def cdf(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        return 0.5 - 0.5 * z.sign() * torch.expm1(-z.abs())

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * centred.sign() * torch.log1p(-2 * centred.abs())

    def entropy(self) -> Tensor:
        return 1 + torch.log(2 * self.scale)


class Cauchy(LocationScale):
    """loc + scale * z, where z is the ratio of two standard normal variables.

    Mean and variance do not exist; they are nan and inf.

    Args:
        loc: the location
        scale: the scale, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Cauchy(0.0, 1.0).icdf(torch.tensor(0.75))
        tensor(1.)
    """

    arg_constraints = _LOCATION_SCALE
    _parameters = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self._initialize(validate_args, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return torch.full_like(self.loc, _NAN)

    @property
    def variance(self) -> Tensor:
        return torch.full_like(self.loc, _INF)

    def _draw(self, shape: Size) -> Tensor:
        return self.loc.new_empty(shape).cauchy_()

    def log_prob(self, value: Tensor) -> Tensor:
        return -math.log(math.pi) - self.scale.log() - self._standard(value).pow(2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        return torch.atan(self._standard(value)) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class StudentT(LocationScale):
    """Student's t-distribution with `df` degrees of freedom, shifted by `loc` and scaled by `scale`.

    Args:
        df: the degrees of freedom, positive
        loc: the location; default 0.0
        scale: the scale, positive; default 1.0
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> StudentT(torch.tensor([1.0, 2.0, 4.0])).variance
        tensor([nan, inf, 2.])
    """

    arg_constraints = {"df": constraints.positive, **_LOCATION_SCALE}
    _parameters = ("df", "loc", "scale")
    df: Tensor

    def __init__(
        self,
        df: Tensor | float,
        loc: Tensor | float = 0.0,
        scale: Tensor | float = 1.0,
        validate_args: bool | None = None,
    ) -> None:
        self._initialize(validate_args, df=df, loc=loc, scale=scale)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, _NAN)

    @property
    def variance(self) -> Tensor:
        finite = self.scale.pow(2) * self.df / (self.df - 2)
        return finite.masked_fill(self.df <= 2, _INF).masked_fill(self.df <= 1, _NAN)

    def _draw(self, shape: Size) -> Tensor:
        normal = _standard_normal(shape, dtype=self.df.dtype, device=self.df.device)
        chi2 = 2 * torch._standard_gamma((0.5 * self.df).expand(shape))
        return normal * torch.rsqrt(chi2.clamp(min=_tiny(chi2)) / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        z = self._standard(value)
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1))
        )
        return -0.5 * (self.df + 1) * torch.log1p(z**2 / self.df) - normalizer

    def entropy(self) -> Tensor:
        log_beta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        half = 0.5 * (self.df + 1)
        return (
            self.scale.log()
            + half * (torch.digamma(half) - torch.digamma(0.5 * self.df))
            + 0.5 * self.df.log()
            + log_beta
        )


class Gumbel(TransformedDistribution):
    """The Gumbel distribution of extreme values, with cdf exp(-exp(-(x - loc) / scale)).

    Args:
        loc: the location
        scale: the scale, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Gumbel(0.0, 1.0).mean
        tensor(0.5772)
    """

    arg_constraints = _LOCATION_SCALE
    support = constraints.real
    _parameters = ("loc", "scale")

    def __init__(self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)

        finfo = torch.finfo(self.loc.dtype)
        base = Uniform(
            torch.full_like(self.loc, finfo.tiny),
            torch.full_like(self.loc, 1 - finfo.eps),
            validate_args=validate_args,
        )

        negated_log: list[Any] = [
            ExpTransform().inv,
            AffineTransform(loc=0, scale=-torch.ones_like(self.scale)),
        ]
        move = AffineTransform(loc=self.loc, scale=-self.scale)
        super().__init__(base, [*negated_log, ExpTransform().inv, move], validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self.loc - self._checked(value)) / self.scale
        return z - z.exp() - self.scale.log()

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
