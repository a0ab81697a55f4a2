"""The base class of constraints, and constraints that depend on an instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py import Tensor

__all__ = ["Constraint", "dependent", "dependent_property", "is_dependent"]


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


dependent = _Dependent()
dependent_property = _DependentProperty
