"""Sets of numbers and vectors."""

from __future__ import annotations

from torch_py import Tensor
from torch_py.distributions.constraints._base import Constraint

__all__ = ["boolean", "multinomial", "one_hot", "real", "simplex"]


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


real = _Real()
boolean = _Boolean()
one_hot = _OneHot()
simplex = _Simplex()
multinomial = _Multinomial
