"""Distributions built from others: batch dimensions as events, transformed values, mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions._categorical import Categorical
from torch_py.distributions.distribution import Distribution
from torch_py.distributions.transforms import ComposeTransform, Transform
from torch_py.distributions.utils import _sum_rightmost

D = TypeVar("D", bound=Distribution)


class Independent(Distribution, Generic[D]):
    """`base_distribution` with its last `reinterpreted_batch_ndims` batch dimensions as part of the event;
    their log_prob is summed.

    Args:
        base_distribution: the distribution
        reinterpreted_batch_ndims: how many batch dimensions
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> d = Independent(Normal(torch.zeros(2, 3), torch.ones(2, 3)), 1)
        >>> d.batch_shape, d.event_shape, d.log_prob(torch.zeros(3)).shape
        (torch.Size([2]), torch.Size([3]), torch.Size([2]))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    _parameters = ()

    def __init__(
        self, base_distribution: D, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        if reinterpreted_batch_ndims > len(base_distribution.batch_shape):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(base_distribution.batch_shape)}"
            )

        shape = base_distribution.batch_shape + base_distribution.event_shape
        events = reinterpreted_batch_ndims + len(base_distribution.event_shape)
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(
            shape[: len(shape) - events], shape[len(shape) - events :], validate_args=validate_args
        )

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._checked_copy(_instance)
        batch_shape = Size(batch_shape)
        new.base_dist = self.base_dist.expand(
            batch_shape + self.event_shape[: self.reinterpreted_batch_ndims]
        )
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._finish(new, batch_shape, self.event_shape)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        return self.reinterpreted_batch_ndims == 0 and self.base_dist.has_enumerate_support

    @constraints.dependent_property
    def support(self) -> Any:
        base = self.base_dist.support
        if not self.reinterpreted_batch_ndims:
            return base
        return constraints.independent(base, self.reinterpreted_batch_ndims)

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims > 0:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        return self.base_dist.enumerate_support(expand=expand)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"


class TransformedDistribution(Distribution):
    """The distribution of f(x) for x from `base_distribution`, where f applies `transforms` in order.

    Args:
        base_distribution: the distribution of x
        transforms: a transform or a list of them
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> d = TransformedDistribution(Normal(0.0, 1.0), [ExpTransform()])
        >>> d.log_prob(torch.tensor(1.0)) == Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
        tensor(True)
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    _parameters: tuple[str, ...] = ()

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError(f"transforms must be a Transform or a list of Transforms, but was {transforms}")

        self.transforms = transforms
        transform = ComposeTransform(transforms)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < transform.domain.event_dim:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {transform.domain.event_dim}, "
                f"but got {shape}."
            )

        result_shape = Size(transform.forward_shape(shape))
        base_event_dim = len(base_distribution.event_shape)

        # Parameters of transforms may enlarge the batch; the base then draws independently for all of it.
        wide = Size(transform.inverse_shape(result_shape))
        if wide != shape:
            base_distribution = base_distribution.expand(wide[: len(wide) - base_event_dim])
        extra = transform.domain.event_dim - base_event_dim
        self.base_dist: Any = Independent(base_distribution, extra) if extra > 0 else base_distribution

        change = transform.codomain.event_dim - transform.domain.event_dim
        cut = len(result_shape) - max(transform.codomain.event_dim, base_event_dim + change)
        super().__init__(result_shape[:cut], result_shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._checked_copy(_instance)
        batch_shape = Size(batch_shape)
        self._expand_parameters(new, batch_shape)
        new.transforms = self.transforms
        shape: Any = batch_shape + self.event_shape
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - len(self.base_dist.event_shape)])
        return self._finish(new, batch_shape, self.event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        extra = len(self.event_shape) - support.event_dim
        return constraints.independent(support, extra) if extra > 0 else support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    def _transformed(self, value: Tensor) -> Tensor:
        for t in self.transforms:
            value = t(value)
        return value

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        y = self._checked(value)
        event_dim = len(self.event_shape)
        result: Any = 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            result = result - _sum_rightmost(t.log_abs_det_jacobian(x, y), event_dim - t.domain.event_dim)
            y = x

        extra = event_dim - len(self.base_dist.event_shape)
        return result + _sum_rightmost(self.base_dist.log_prob(y), extra)

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """p if the transforms are increasing, 1 - p if they are decreasing."""
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for t in reversed(self.transforms):
            value = t.inv(value)
        return self._monotonize_cdf(self.base_dist.cdf(self.base_dist._checked(value)))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._monotonize_cdf(value)))


class MixtureSameFamily(Distribution):
    """A mixture of distributions of one family: `mixture_distribution` (Categorical) selects from the last
    batch dimension of `component_distribution`.

    Args:
        mixture_distribution: a Categorical over the components
        component_distribution: the components, in the last batch dimension
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> mix = MixtureSameFamily(Categorical(torch.ones(2)), Normal(torch.tensor([-1.0, 1.0]), 1.0))
        >>> mix.mean, mix.variance
        (tensor(0.), tensor(2.))
    """

    arg_constraints: dict[str, constraints.Constraint] = {}
    has_rsample = False
    _parameters = ()

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                "mixture_distribution needs to be an instance of Categorical, "
                f"but got {mixture_distribution!r}"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "component_distribution needs to be an instance of Distribution, "
                f"but got {component_distribution!r}"
            )

        batch = mixture_distribution.batch_shape
        components = component_distribution.batch_shape
        for size, other in zip(reversed(batch), reversed(components[:-1])):
            if size != 1 and other != 1 and size != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({batch}) is not compatible with "
                    f"`component_distribution.batch_shape` ({components[:-1]})"
                )

        count = mixture_distribution.logits.shape[-1]
        if not components or (count != components[-1] and count is not None):
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components[-1] if components else components})"
            )

        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = count
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(components[:-1], component_distribution.event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        new = self._checked_copy(_instance)
        batch_shape = Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            batch_shape + (self._num_component,)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return self._finish(new, batch_shape, self.event_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components, along the last batch dimension."""
        return self._component_distribution

    def _weighted(self, values: Tensor) -> Tensor:
        """The mean over components of values with their batch and event shape."""
        weights = self.mixture_distribution.probs
        weights = weights.reshape(weights.shape + (1,) * self._event_ndims)
        return (weights * values).sum(-1 - self._event_ndims)

    @property
    def mean(self) -> Tensor:
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        # The variance within the components plus the variance between them.
        means = self.component_distribution.mean
        between = (means - self.mean.unsqueeze(-1 - self._event_ndims)) ** 2
        return self._weighted(self.component_distribution.variance) + self._weighted(between)

    def _pad(self, x: Tensor) -> Tensor:
        return x.unsqueeze(-1 - self._event_ndims)

    def cdf(self, x: Tensor) -> Tensor:
        return (self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:
        each = self.component_distribution.log_prob(self._pad(self._checked(x)))
        return torch.logsumexp(each + torch.log_softmax(self.mixture_distribution.logits, -1), -1)

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        with torch.no_grad():
            sample_shape = Size(sample_shape)
            chosen = self.mixture_distribution.expand(self.batch_shape).sample(sample_shape)
            values = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + (1,) * (self._event_ndims + 1))
            index = index.expand(chosen.shape + (1,) + self.event_shape)
            return values.gather(chosen.dim(), index).squeeze(chosen.dim())

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self.mixture_distribution},\n  {self.component_distribution})"
