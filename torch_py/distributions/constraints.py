"""Constraints: sets in which parameters and samples must lie.

`constraint.check(value)` tells which events do.

A constraint has `event_dim`, the number of last dimensions that form one event, and `is_discrete`. Some
constraints depend on other parameters: `dependent` represents those that only an instance of a distribution
knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch_py as torch
from torch_py import Tensor

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


def _require(condition: bool, message: str) -> None:
    """Raises AssertionError, as PyTorch does here, also under python -O."""
    if not condition:
        raise AssertionError(message)


class Constraint:
    """Base class of constraints; subclasses define `check`.

    Example:
        >>> torch.distributions.constraints.positive.check(torch.tensor([-1.0, 1.0]))
        tensor([False,  True])
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Which events satisfy the constraint, as a bool tensor of shape
        value.shape without the last `event_dim` dimensions."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__.removeprefix("_") + "()"


class _Dependent(Constraint):
    """A set that depends on values which only an instance knows.

    Attributes that are not given here raise NotImplementedError.
    """

    def __init__(self, *, is_discrete: bool = NotImplemented, event_dim: int = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def _known(self, name: str) -> Any:
        value = getattr(self, "_" + name)
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self._known("is_discrete")

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self._known("event_dim")

    def __call__(self, *, is_discrete: bool = NotImplemented, event_dim: int = NotImplemented) -> _Dependent:
        """A copy with more attributes: `constraints.dependent(is_discrete=False, event_dim=1)`."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Constraint) -> bool:
    """Whether `constraint` depends on parameters of an instance.

    Args:
        constraint: a constraint

    Example:
        >>> torch.distributions.constraints.is_dependent(torch.distributions.Uniform.support)
        True
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property whose value is a constraint. On the class itself it is a dependent constraint.

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        return constraints.interval(self.low, self.high)

    Args:
        fn: the method; default None
        is_discrete: whether the support is discrete
        event_dim: the number of dimensions of an event

    Example:
        >>> torch.distributions.Uniform(0.0, 2.0).support
        Interval(lower_bound=0.0, upper_bound=2.0)
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: bool = NotImplemented,
        event_dim: int = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """`base_constraint` with its last `reinterpreted_batch_ndims` batch dimensions as part of the event.

    Args:
        base_constraint: the constraint
        reinterpreted_batch_ndims: how many batch dimensions

    Example:
        >>> torch.distributions.constraints.independent(
        ...     torch.distributions.constraints.positive, 1
        ... ).check(torch.tensor([[1.0, 2.0], [1.0, -2.0]]))
        tensor([ True, False])
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        _require(
            isinstance(base_constraint, Constraint),
            f"base_constraint must be a Constraint, got {type(base_constraint).__name__}",
        )
        _require(
            isinstance(reinterpreted_batch_ndims, int),
            f"reinterpreted_batch_ndims must be an int, got {type(reinterpreted_batch_ndims).__name__}",
        )
        _require(
            reinterpreted_batch_ndims >= 0,
            f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}",
        )

        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")

        return result.flatten(kept).all(-1) if kept < result.dim() else result

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__.removeprefix('_')}({self.base_constraint!r}, "
            f"{self.reinterpreted_batch_ndims})"
        )


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: `base_constraint`, checked for every component along a further dimension.

    Args:
        base_constraint: the constraint

    Example:
        >>> torch.distributions.constraints.MixtureSameFamilyConstraint(
        ...     torch.distributions.constraints.positive
        ... ).event_dim
        0
    """

    def __init__(self, base_constraint: Constraint) -> None:
        _require(
            isinstance(base_constraint, Constraint),
            f"base_constraint must be a Constraint, got {type(base_constraint).__name__}",
        )
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")

        result = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        # If the support differs between components, a value must lie in all of them.
        return result.reshape(result.shape[: value.dim() - self.event_dim] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Bounded(Constraint):
    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _BoundedBelow(_Bounded):
    def __init__(self, lower_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound


class _BoundedAbove(_Bounded):
    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound


class _BoundedBoth(_Bounded):
    def __init__(self, lower_bound: Tensor | float, upper_bound: Tensor | float) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound


class _IntegerInterval(_BoundedBoth):
    """Integers in a closed interval.

    Args:
        lower_bound: the lower bound
        upper_bound: the upper bound

    Example:
        >>> torch.distributions.constraints.integer_interval(0, 2).check(torch.tensor([1.0, 1.5]))
        tensor([ True, False])
    """

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_BoundedAbove):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_BoundedBelow):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_BoundedBelow):
    """Numbers greater than a bound.

    Args:
        lower_bound: the lower bound

    Example:
        >>> torch.distributions.constraints.greater_than(0.0).check(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([False, False,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_BoundedBelow):
    """Numbers greater than or equal to a bound.

    Args:
        lower_bound: the lower bound

    Example:
        >>> torch.distributions.constraints.greater_than_eq(0.0).check(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([False,  True,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_BoundedAbove):
    """Numbers less than a bound.

    Args:
        upper_bound: the upper bound

    Example:
        >>> torch.distributions.constraints.less_than(0.0).check(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([ True, False, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_BoundedBoth):
    """Numbers in a closed interval.

    Args:
        lower_bound: the lower bound
        upper_bound: the upper bound

    Example:
        >>> torch.distributions.constraints.interval(0.0, 1.0).check(torch.tensor([-1.0, 1.0]))
        tensor([False,  True])
    """

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_BoundedBoth):
    """Numbers in an interval without its upper end.

    Args:
        lower_bound: the lower bound
        upper_bound: the upper bound

    Example:
        >>> torch.distributions.constraints.half_open_interval(0.0, 1.0).check(torch.tensor([0.0, 1.0]))
        tensor([ True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # everything but nan


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    """Nonnegative values with sum 1 (to 1e-6) along the last dimension."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts with at most a given sum.

    Args:
        upper_bound: the upper bound

    Example:
        >>> torch.distributions.constraints.multinomial(3).check(torch.tensor([1.0, 2.0]))
        tensor(True)
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Tensor:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _Matrix(Constraint):
    event_dim = 2


class _LowerTriangular(_Matrix):
    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).all(-1).all(-1)


class _LowerCholesky(_Matrix):
    """Lower triangular with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).all(-1).all(-1) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_Matrix):
    """Cholesky factors of correlation matrices, which also have rows of norm 1."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
        norms = torch.linalg.vector_norm(value.detach(), dim=-1)
        return ((norms - 1).abs() <= tolerance).all(-1) & lower_cholesky.check(value)


class _Square(_Matrix):
    def check(self, value: Tensor) -> Tensor:
        return torch.full(
            value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool, device=value.device
        )


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return symmetric & (torch.linalg.eigvalsh(value) >= 0).all(-1) if symmetric.all() else symmetric


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return symmetric & (torch.linalg.cholesky_ex(value).info == 0) if symmetric.all() else symmetric


class _Parts(Constraint):
    """Constraints on adjacent parts of a tensor along dimension `dim`."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        _require(
            all(isinstance(c, Constraint) for c in cseq), "All elements of cseq must be Constraint instances"
        )
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]
        return any(c.is_discrete for c in self.cseq)

    def _check_dim(self, value: Tensor) -> None:
        _require(
            -value.dim() <= self.dim < value.dim(),
            f"dim {self.dim} is outside of a value with {value.dim()} dimensions",
        )


class _Cat(_Parts):
    """Constraints on parts of the given lengths along `dim`, as torch.cat joins them.

    Args:
        cseq: the constraints
        dim: the dimension; default 0
        lengths: the lengths of the parts; default None, 1 each

    Example:
        >>> torch.distributions.constraints.cat(
        ...     [torch.distributions.constraints.positive, torch.distributions.constraints.real]
        ... ).check(torch.tensor([-1.0, -1.0]))
        tensor([False,  True])
    """

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        _require(
            len(self.lengths) == len(self.cseq),
            f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})",
        )

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        parts = value.split([*self.lengths, value.size(self.dim) - sum(self.lengths)], self.dim)
        return torch.cat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(_Parts):
    """Constraints on slices along `dim`, as torch.stack joins them.

    Args:
        cseq: the constraints
        dim: the dimension; default 0

    Example:
        >>> torch.distributions.constraints.stack(
        ...     [torch.distributions.constraints.positive, torch.distributions.constraints.real]
        ... ).check(torch.tensor([-1.0, -1.0]))
        tensor([False,  True])
    """

    @property
    def event_dim(self) -> int:  # type: ignore[override]
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        return torch.stack([c.check(part) for c, part in zip(self.cseq, value.unbind(self.dim))], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
