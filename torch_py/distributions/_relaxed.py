"""Continuous relaxations of Bernoulli and Categorical variables, with a temperature
and with gradients (Maddison et al. 2017, Jang et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._categorical import Categorical, _OverCategorical
from torch_py.distributions._combinators import TransformedDistribution
from torch_py.distributions._counts import BinaryTrials, softplus
from torch_py.distributions.distribution import Distribution
from torch_py.distributions.transforms import ExpTransform, SigmoidTransform
from torch_py.distributions.utils import broadcast_all, clamp_probs


class LogitRelaxedBernoulli(BinaryTrials):
    """The distribution of (logits + logistic noise) / temperature; its sigmoid is a RelaxedBernoulli."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    _parameters = ("probs", "logits")

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self.temperature = temperature
        self._take(probs, logits, validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        probs = clamp_probs(self.probs.expand(self._extended_shape(sample_shape)))
        uniform = clamp_probs(torch.rand(probs.shape, dtype=probs.dtype, device=probs.device))
        return (uniform.log() - (-uniform).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value, temperature = broadcast_all(self.logits, self._checked(value), self.temperature)
        difference = logits - value * temperature
        return temperature.log() + difference - 2 * softplus(difference)


class RelaxedBernoulli(TransformedDistribution):
    """Numbers in (0, 1) that approach Bernoulli variables as `temperature` goes to 0, with gradients with
    respect to the parameters.

    Args:
        temperature: the temperature, positive
        probs: the probability, from 0 to 1
        logits: the log odds, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> RelaxedBernoulli(torch.tensor(0.5), probs=torch.tensor([0.3, 0.6])).batch_shape
        torch.Size([2])
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    base_dist: LogitRelaxedBernoulli
    _parameters = ()

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | float | None = None,
        logits: Tensor | float | None = None,
        validate_args: bool | None = None,
    ) -> None:
        super().__init__(
            LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args
        )

    @property
    def temperature(self) -> Tensor | float:
        """The temperature of the relaxation."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log-odds of success."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probability of success."""
        return self.base_dist.probs


class ExpRelaxedCategorical(_OverCategorical):
    """The logarithm of a RelaxedOneHotCategorical variable,
    log_softmax((logits + Gumbel noise) / temperature)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # in fact only vectors with exponentials that sum to 1
    has_rsample = True
    _parameters = ()

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args
        )

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        shape = self._extended_shape(sample_shape)
        uniform = clamp_probs(torch.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        return torch.log_softmax((self.logits - (-uniform.log()).log()) / self.temperature, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        count = self.event_shape[0]
        logits, value = broadcast_all(self.logits, self._checked(value))
        temperature = torch.as_tensor(self.temperature, dtype=logits.dtype, device=logits.device)
        score = torch.log_softmax(logits - value * temperature, -1).sum(-1)
        log_count = torch.lgamma(torch.full_like(temperature, float(count)))
        return score + log_count + (count - 1) * temperature.log()


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of the simplex that approach one-hot vectors as `temperature` goes to 0, with gradients with
    respect to the parameters.

    Args:
        temperature: the temperature, positive
        probs: (..., K), weights that are not negative and are normalized
        logits: (..., K), unnormalized log probabilities, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> RelaxedOneHotCategorical(torch.tensor(0.5), torch.ones(3)).event_shape
        torch.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    base_dist: ExpRelaxedCategorical
    _parameters = ()

    def __init__(
        self,
        temperature: Tensor | float,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Tensor | float:
        """The temperature of the relaxation."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """The log-probabilities of the categories."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self.base_dist.probs
