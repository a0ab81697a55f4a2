"""`Multinomial`, the numbers of choices of each category."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._categorical import Categorical, _OverCategorical
from torch_py.distributions._counts import Binomial
from torch_py.distributions.distribution import _INF, Distribution
from torch_py.distributions.utils import broadcast_all


class Multinomial(_OverCategorical):
    """The counts of `total_count` (one int) choices among categories, whose probabilities are the last
    dimension of `probs` or `logits`.

    `log_prob` also accepts counts with another sum and uses the multinomial of that sum. Raises
    NotImplementedError unless `total_count` is an int.

    Args:
        total_count: the number of choices, an int; default 1
        probs: (..., K), weights that are not negative and are normalized
        logits: (..., K), unnormalized log probabilities, instead of `probs`
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> Multinomial(2, torch.tensor([0.5, 0.5])).log_prob(torch.tensor([1.0, 1.0])).exp()
        tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _parameters = ()

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError(f"inhomogeneous total_count is not supported; got {total_count!r}")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._init_binomial()

        super().__init__(
            self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args
        )

    def _init_binomial(self) -> None:
        self._binomial = Binomial(total_count=self.total_count, probs=self.probs)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.total_count = self.total_count
        new._init_binomial()
        return new

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        sample_shape = Size(sample_shape)
        chosen = self._categorical.sample(Size((self.total_count,)) + sample_shape)

        # The draws become the last dimension and are counted there.
        chosen = chosen.permute(*range(1, chosen.dim()), 0)
        shape = self._extended_shape(sample_shape)
        counts = torch.zeros(shape, dtype=self.probs.dtype, device=self.probs.device)
        return counts.scatter_add_(-1, chosen, torch.ones_like(chosen, dtype=counts.dtype))

    def entropy(self) -> Tensor:
        # n H(p) - log n! + the sum over categories of E[log k!], where each count k is binomial.
        n = torch.tensor(float(self.total_count), dtype=self.probs.dtype, device=self.probs.device)
        counts = self._binomial.enumerate_support(expand=False)[1:]
        chances = torch.exp(self._binomial.log_prob(counts))
        expected = (chances * torch.lgamma(counts + 1)).sum(dim=(0, -1))
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + expected

    def log_prob(self, value: Tensor) -> Tensor:
        logits, value = broadcast_all(self.logits, self._checked(value))
        logits = logits.masked_fill((value == 0) & (logits == -_INF), 0)
        combinations = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        return combinations + (logits * value).sum(-1)
