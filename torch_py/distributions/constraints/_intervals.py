"""Intervals of real numbers and of integers."""

from __future__ import annotations

from torch_py import Tensor
from torch_py.distributions.constraints._base import Constraint

__all__ = [
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "integer_interval",
    "interval",
    "less_than",
    "nonnegative",
    "nonnegative_integer",
    "positive",
    "positive_integer",
    "unit_interval",
]


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


nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
