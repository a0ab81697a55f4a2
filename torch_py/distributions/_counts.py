"""Distributions of numbers of successes, failures and events: Bernoulli, Geometric, Binomial,
NegativeBinomial and Poisson."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._categorical import require_one
from torch_py.distributions._positive import Gamma
from torch_py.distributions.distribution import _INF, _NAN, Distribution
from torch_py.distributions.exp_family import ExponentialFamily
from torch_py.distributions.utils import _tiny, broadcast_all, lazy_property, logits_to_probs, probs_to_logits
from torch_py.nn.functional import binary_cross_entropy_with_logits as cross_entropy


def softplus(x: Tensor) -> Tensor:
    """log(1 + exp(x)), without PyTorch's approximation by x for large x."""
    return torch.nn.functional.softplus(x, threshold=_INF)


class BinaryTrials(Distribution):
    """Base class of distributions with the parameter `probs`, the probability of success, or `logits`, its
    log-odds. The other one is computed when it is first used."""

    _parameters: tuple[str, ...] = ()

    def _take(self, probs: Any, logits: Any, validate_args: bool | None, **others: Any) -> None:
        """Stores exactly one of the two, broadcast with `others`."""
        require_one(probs, logits)
        name, value = ("logits", logits) if probs is None else ("probs", probs)
        self._initialize(validate_args, **{name: value}, **others)

    def _take_counted(self, total_count: Any, probs: Any, logits: Any, validate_args: bool | None) -> None:
        """Stores a parameter and `total_count`, which may have an integer dtype, in the parameter's dtype."""
        require_one(probs, logits)
        param = logits if probs is None else probs
        if isinstance(total_count, Tensor):
            dtype = param.dtype if isinstance(param, Tensor) else torch.get_default_dtype()
            total_count = total_count.to(dtype)
        self._take(probs, logits, validate_args, total_count=total_count)

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds of success, log(probs / (1 - probs))."""
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability of success."""
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.shape


class Bernoulli(BinaryTrials, ExponentialFamily):
    """1 with probability `probs` (or log-odds `logits`), otherwise 0.

    Args:
        probs: the probability, from 0 to 1
        logits: the log odds, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Bernoulli(torch.tensor(0.25)).mean
        tensor(0.2500)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _parameters = ("probs", "logits")

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return (self.probs >= 0.5).to(self.probs.dtype).masked_fill(self.probs == 0.5, _NAN)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        return -cross_entropy(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(torch.arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return softplus(x)


class Geometric(BinaryTrials):
    """The number of failed Bernoulli trials before the first success. Raises ValueError for `probs` 0.

    Args:
        probs: the probability of success, above 0
        logits: the log odds, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Geometric(torch.tensor(0.25)).mean
        tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _parameters = ("probs", "logits")

    def __init__(
        self,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take(probs, logits, validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) "
                f"of distribution {self!r} to be positive but found invalid "
                f"values:\n{self.probs[self.probs <= 0]}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            uniform = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(_tiny(self.probs), 1)
            return (uniform.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        value, probs = broadcast_all(self._checked(value), self.probs)
        failure = probs.masked_fill((probs == 1) & (value == 0), 0)  # 0 log 0 is 0
        return value * (-failure).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        return cross_entropy(self.logits, self.probs, reduction="none") / self.probs


class Binomial(BinaryTrials):
    """The number of successes in `total_count` Bernoulli trials.

    Args:
        total_count: the number of trials; default 1
        probs: the probability, from 0 to 1
        logits: the log odds, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Binomial(2, torch.tensor(0.5)).log_prob(torch.tensor([0.0, 1.0, 2.0])).exp()
        tensor([0.2500, 0.5000, 0.2500])
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _parameters = ("total_count", "probs", "logits")
    total_count: Tensor

    def __init__(
        self,
        total_count: Tensor | int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take_counted(total_count, probs, logits, validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        n = self.total_count
        k = self._checked(value)
        combinations = torch.lgamma(n + 1) - torch.lgamma(k + 1) - torch.lgamma(n - k + 1)
        # k log p + (n - k) log(1 - p) in terms of logits, in a form that does not overflow.
        return combinations + k * self.logits - n * softplus(self.logits)

    def _one_total_count(self, method: str) -> int:
        """The total count, if it is the same in the whole batch."""
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return count

    def entropy(self) -> Tensor:
        self._one_total_count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._one_total_count("enumerate_support")
        values = torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(values, expand)


class NegativeBinomial(BinaryTrials):
    """The number of successful Bernoulli trials before `total_count` failures, where `total_count` may be any
    nonnegative number.

    Args:
        total_count: the number of failures, not negative
        probs: the probability of success, from 0 up to but not including 1
        logits: the log odds, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> NegativeBinomial(3.0, torch.tensor(0.5)).mean
        tensor(3.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _parameters = ("total_count", "probs", "logits")
    total_count: Tensor

    def __init__(
        self,
        total_count: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._take_counted(total_count, probs, logits, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        # This distribution is a mixture of Poisson distributions; the gamma distribution is that of their
        # rate.
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        n = self.total_count
        k = self._checked(value)
        logsigmoid = torch.nn.functional.logsigmoid
        log_prob = n * logsigmoid(-self.logits) + k * logsigmoid(self.logits)
        combinations = torch.lgamma(n + k) - torch.lgamma(1.0 + k) - torch.lgamma(n)
        return log_prob + combinations.masked_fill(n + k == 0.0, 0.0)


class Poisson(ExponentialFamily):
    """The number of events when `rate` are expected: P(k) = rate ** k * exp(-rate) / k!.

    Args:
        rate: the rate, not negative
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Poisson(torch.tensor(2.0)).log_prob(torch.tensor(0.0))
        tensor(-2.)
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _parameters = ("rate",)
    rate: Tensor

    def __init__(self, rate: Tensor | float, validate_args: bool | None = None) -> None:
        self._initialize(validate_args, rate=rate)

    @property
    def mean(self) -> Tensor:
        return self.rate

    variance = mean

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        rate, value = broadcast_all(self.rate, self._checked(value))
        return torch.xlogy(value, rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return torch.exp(x)
