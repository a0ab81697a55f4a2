"""Distributions on an interval or the simplex: Uniform, Beta, Dirichlet, Kumaraswamy, ContinuousBernoulli."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._combinators import TransformedDistribution
from torch_py.distributions._counts import BinaryTrials
from torch_py.distributions.distribution import _NAN, Distribution
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.transforms import AffineTransform, PowerTransform
from torch_py.distributions.utils import _tiny, broadcast_all, clamp_probs, euler_constant
from torch_py.nn.functional import binary_cross_entropy_with_logits as cross_entropy


class Uniform(Distribution):
    """The uniform distribution on [low, high). Raises ValueError unless low < high.

    Args:
        low: the lower end, included
        high: the upper end, excluded
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Uniform(0.0, 4.0).icdf(torch.tensor(0.25))
        tensor(1.)
    """

    has_rsample = True
    _parameters = ("low", "high")
    low: Tensor
    high: Tensor

    def __init__(self, low: Tensor | float, high: Tensor | float, validate_args: bool | None = None) -> None:
        self._numbers = not (isinstance(low, Tensor) or isinstance(high, Tensor))
        self._initialize(validate_args, low=low, high=high)

    @property
    def arg_constraints(self) -> dict[str, Any]:
        numbers = self.__dict__.get("_numbers", False)
        low: Any = self.low.item() if numbers else self.low
        high: Any = self.high.item() if numbers else self.high
        return {"low": constraints.less_than(high), "high": constraints.greater_than(low)}

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        arguments = self.arg_constraints
        return constraints.interval(arguments["high"].lower_bound, arguments["low"].upper_bound)

    @property
    def mean(self) -> Tensor:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Tensor:
        return torch.full_like(self.high, _NAN)

    @property
    def stddev(self) -> Tensor:
        return (self.high - self.low) / math.sqrt(12)

    @property
    def variance(self) -> Tensor:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        uniform = torch.rand(self._extended_shape(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low + uniform * (self.high - self.low)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        inside = (self.low <= value) & (value < self.high)
        return torch.log(inside.to(self.low.dtype)) - torch.log(self.high - self.low)

    def cdf(self, value: Tensor) -> Tensor:
        return ((self._checked(value) - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Tensor) -> Tensor:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Tensor:
        return torch.log(self.high - self.low)


def _gamma_ratio(concentration: Tensor) -> Tensor:
    """A draw of the Dirichlet distribution: gamma variables divided by their sum, in float64 because those of
    small concentrations underflow."""
    gamma = torch._standard_gamma(concentration.double())
    simplex = (gamma / gamma.sum(-1, keepdim=True)).to(concentration.dtype)
    return simplex.clamp(min=_tiny(simplex))


class Dirichlet(ExponentialFamily):
    """Vectors of the simplex, with density proportional to prod x ** (concentration - 1).

    `rsample` is differentiable through its gamma variables.

    Args:
        concentration: (..., K), positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Dirichlet(torch.tensor([1.0, 3.0])).mean
        tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _parameters = ("concentration",)

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return _gamma_ratio(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        c = self.concentration
        powers = torch.xlogy(c - 1.0, self._checked(value)).sum(-1)
        return powers + torch.lgamma(c.sum(-1)) - torch.lgamma(c).sum(-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, keepdim=True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, keepdim=True)

        # If all concentrations are below 1, every corner is a pole of the density; the first one is returned.
        corner = torch.zeros_like(mode)
        corner[..., 0] = 1
        return torch.where((self.concentration < 1).all(-1, keepdim=True), corner, mode)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, keepdim=True)
        return self.concentration * (total - self.concentration) / (total.pow(2) * (total + 1))

    def entropy(self) -> Tensor:
        c = self.concentration
        k = self.concentration.size(-1)
        total = c.sum(-1)
        return (
            torch.lgamma(c).sum(-1)
            - torch.lgamma(total)
            - (k - total) * torch.digamma(total)
            - ((c - 1.0) * torch.digamma(c)).sum(-1)
        )

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return x.lgamma().sum(-1) - torch.lgamma(x.sum(-1))


class Beta(ExponentialFamily):
    """The beta distribution on the unit interval, with density proportional to
    x ** (concentration1 - 1) * (1 - x) ** (concentration0 - 1).

    Args:
        concentration1: the first concentration, positive
        concentration0: the second concentration, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Beta(1.0, 3.0).mean
        tensor(0.2500)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _parameters = ()

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        concentrations = torch.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(concentrations, validate_args=False)
        super().__init__(self._dirichlet.batch_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._checked_copy(_instance)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        return self._finish(new, batch_shape, Size([]))

    @property
    def concentration1(self) -> Tensor:
        """The exponent of x, plus one."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        """The exponent of 1 - x, plus one."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self._dirichlet.mean[..., 0]

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        return self._dirichlet.variance[..., 0]

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return self._dirichlet.log_prob(torch.stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return torch.lgamma(x) + torch.lgamma(y) - torch.lgamma(x + y)


class Kumaraswamy(TransformedDistribution):
    """The distribution on the unit interval with cdf 1 - (1 - x ** concentration1) ** concentration0.

    Args:
        concentration1: the first concentration, positive
        concentration0: the second concentration, positive
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Kumaraswamy(1.0, 1.0).cdf(torch.tensor(0.25))
        tensor(0.2500)
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _parameters = ("concentration1", "concentration0")

    def __init__(
        self,
        concentration1: Tensor | float,
        concentration0: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(
            torch.zeros_like(self.concentration0),
            torch.ones_like(self.concentration0),
            validate_args=validate_args,
        )
        powers = [PowerTransform(exponent=c.reciprocal()) for c in (self.concentration0, self.concentration1)]
        super().__init__(
            base, [powers[0], AffineTransform(loc=1.0, scale=-1.0), powers[1]], validate_args=validate_args
        )

    def _moment(self, n: int) -> Tensor:
        """E[x ** n] = b B(1 + n / a, b)."""
        a = 1 + n / self.concentration1
        b = self.concentration0
        return torch.exp(b.log() + torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b))

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a = self.concentration1
        b = self.concentration0
        return ((a - 1) / (a * b - 1)).pow(a.reciprocal()).masked_fill((a < 1) | (b < 1), _NAN)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Tensor:
        a = self.concentration1
        b = self.concentration0
        harmonic = torch.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - torch.log(a) - torch.log(b)


class ContinuousBernoulli(BinaryTrials, ExponentialFamily):
    """The distribution on the unit interval with density proportional to probs ** x * (1 - probs) ** (1 - x)
    (Loaiza-Ganem and Cunningham 2019).

    At probs = 0.5 the formula of the normalizer is 0/0; within `lims` a Taylor polynomial is used.

    Args:
        probs: the probability, from 0 to 1
        logits: the log odds, instead of `probs`
        lims: the range of probabilities around 0.5 in which a polynomial is used; default (0.499, 0.501)
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> ContinuousBernoulli(torch.tensor(0.5)).variance * 12
        tensor(1.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _parameters = ("probs", "logits")

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:
        self._lims = lims
        # As in PyTorch, probabilities outside [0, 1] are clamped, unless validation is requested explicitly.
        self._take(probs, logits, False if validate_args is None else validate_args)
        if validate_args is None:
            del self._validate_args
        if probs is not None:
            self.probs = clamp_probs(self.probs)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._lims = self._lims
        return new

    def _outside_unstable_region(self) -> Tensor:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Tensor:
        return torch.where(self._outside_unstable_region(), self.probs, self._lims[0])

    def _or_taylor(self, exact: Tensor, taylor: Tensor) -> Tensor:
        return torch.where(self._outside_unstable_region(), exact, taylor)

    @staticmethod
    def _log_odds(p: Tensor) -> Tensor:
        return torch.log(p) - torch.log1p(-p)

    def _cont_bern_log_norm(self) -> Tensor:
        """The log normalizer, log of 2 artanh(1 - 2 probs) / (1 - 2 probs)."""
        p = self._cut_probs()
        x = (self.probs - 0.5).pow(2)
        exact = torch.log(self._log_odds(p).abs()) - torch.log((1 - 2 * p).abs())
        return self._or_taylor(exact, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Tensor:
        p = self._cut_probs()
        x = self.probs - 0.5
        exact = p / (2 * p - 1) - 1 / self._log_odds(p)
        return self._or_taylor(exact, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self) -> Tensor:
        p = self._cut_probs()
        x = (self.probs - 0.5).pow(2)
        exact = p * (p - 1) / (1 - 2 * p).pow(2) + 1 / self._log_odds(p).pow(2)
        return self._or_taylor(exact, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return self._cont_bern_log_norm() - cross_entropy(logits, value, reduction="none")

    def cdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        value = self._checked(value)
        exact = (p.pow(value) * (1 - p).pow(1 - value) + p - 1) / (2 * p - 1)
        inner = self._or_taylor(exact, value)
        return torch.where(value <= 0, 0.0, torch.where(value >= 1, 1.0, inner))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut_probs()
        exact = (torch.log1p(-p + value * (2 * p - 1)) - torch.log1p(-p)) / self._log_odds(p)
        return self._or_taylor(exact, value)

    def entropy(self) -> Tensor:
        failure = torch.log1p(-self.probs)
        return self.mean * (failure - torch.log(self.probs)) - self._cont_bern_log_norm() - failure

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        """log((exp(x) - 1) / x), a Taylor polynomial around 0."""
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = torch.where(outside, x, self._lims[0] - 0.5)
        exact = torch.log(torch.expm1(cut).abs()) - torch.log(cut.abs())
        return torch.where(outside, exact, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
