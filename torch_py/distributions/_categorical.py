"""Choices among categories, as an index (`Categorical`) or as a one-hot vector (`OneHotCategorical`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions.distribution import _NAN, Distribution
from torch_py.distributions.utils import lazy_property, logits_to_probs, probs_to_logits


def require_one(probs: Tensor | float | None, logits: Tensor | float | None) -> None:
    """Raises ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError(
            f"Either `probs` or `logits` must be specified, but not both; got probs={probs}, logits={logits}"
        )


class Categorical(Distribution):
    """An index from 0 to K - 1, with probabilities along the last dimension of `probs`, which are normalized,
    or of `logits`, which are log-probabilities up to a constant.

    Samples are int64 of shape sample_shape + batch_shape. Raises ValueError unless exactly one of the two is
    given.

    Args:
        probs: (..., K), weights that are not negative and are normalized
        logits: (..., K), unnormalized log probabilities, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> d = Categorical(logits=torch.zeros(4))
        >>> d.probs, d.entropy().exp()
        (tensor([0.2500, 0.2500, 0.2500, 0.2500]), tensor(4.))
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _parameters = ("probs", "logits")

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        require_one(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        if given.dim() < 1:  # type: ignore[union-attr]
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")

        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(-1, keepdim=True)  # type: ignore[union-attr, operator]

        self._num_events = self._param.shape[-1]
        super().__init__(self._param.shape[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._num_events = self._num_events
        return new

    @property
    def _param(self) -> Tensor:
        """The one of the two that was given."""
        return self.__dict__["probs"] if "probs" in self.__dict__ else self.logits

    @lazy_property
    def logits(self) -> Tensor:
        """The log-probabilities of the categories."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return logits_to_probs(self.logits)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return torch.full(self._extended_shape(), _NAN, dtype=self.probs.dtype, device=self.probs.device)

    variance = mean

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        sample_shape = Size(sample_shape)
        with torch.no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = torch.multinomial(rows, sample_shape.numel(), True)
            return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        index = self._checked(value).long().unsqueeze(-1)
        shape = torch.broadcast_shapes(index.shape, self.logits.shape[:-1] + (1,))
        logits = self.logits.expand(shape[:-1] + self.logits.shape[-1:])
        return logits.gather(-1, index.expand(shape)).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=torch.finfo(self.logits.dtype).min)  # 0 log 0 is 0
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(torch.arange(self._num_events, device=self._param.device), expand)


class _OverCategorical(Distribution):
    """Base class of distributions with the parameters of a Categorical, which is `_categorical`."""

    _parameters: tuple[str, ...] = ()
    _categorical: Categorical

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._checked_copy(_instance)
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish(new, batch_shape, self.event_shape)

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The log-probabilities of the categories."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape


class OneHotCategorical(_OverCategorical):
    """One-hot vectors of a Categorical, with the dtype of the parameters.

    Args:
        probs: (..., K), weights that are not negative and are normalized
        logits: (..., K), unnormalized log probabilities, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> OneHotCategorical(torch.tensor([0.25, 0.75])).log_prob(torch.tensor([0.0, 1.0])).exp()
        tensor(0.7500)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _parameters = ()

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return torch.nn.functional.one_hot(self.probs.argmax(-1), self.event_shape[0]).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        drawn = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(drawn, self.event_shape[0]).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        rows = torch.eye(self.event_shape[0], dtype=self._param.dtype, device=self._param.device)
        return self._enumerated(rows, expand)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical with an `rsample` that passes gradients to `probs` as if it had returned `probs`
    (Bengio et al. 2013).

    Args:
        probs: (..., K), weights that are not negative and are normalized
        logits: (..., K), unnormalized log probabilities, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> torch.distributions.OneHotCategoricalStraightThrough(torch.ones(3)).rsample().sum()
        tensor(1.)
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
