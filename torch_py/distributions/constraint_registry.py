"""Transforms from unconstrained numbers to a constrained set, for optimising and sampling constrained
parameters.

`biject_to(c)` is a bijection, as a change of variables in a density requires. `transform_to(c)` may map many
values to one and be easier to optimise. Both are tables from classes of constraints to functions, which
`register` extends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table from classes of constraints to functions that take a constraint and return a Transform."""

    def __init__(self) -> None:
        self._registry: dict[type, Callable[[Any], Any]] = {}
        super().__init__()

    def register(
        self,
        constraint: constraints.Constraint | type[constraints.Constraint],
        factory: Callable[[Any], transforms.Transform] | None = None,
    ) -> Any:
        """Uses `factory` for the class of `constraint`, a Constraint or a class of them.

        Without `factory` it is a decorator.

        Raises TypeError for anything else.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)

        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: constraints.Constraint) -> Any:
        """The transform to `constraint`. Raises NotImplementedError if its class is not registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _beyond(bound: Any, sign: int) -> Any:
    return transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(bound, sign)])


def _between(constraint: Any) -> Any:
    low = constraint.lower_bound
    high = constraint.upper_bound
    if all(isinstance(bound, (int, float)) for bound in (low, high)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


_SCALAR: dict[type, Callable[[Any], Any]] = {
    type(constraints.real): lambda c: transforms.identity_transform,
    constraints.greater_than: lambda c: _beyond(c.lower_bound, 1),
    constraints.greater_than_eq: lambda c: _beyond(c.lower_bound, 1),
    constraints.less_than: lambda c: _beyond(c.upper_bound, -1),
    constraints.interval: _between,
    constraints.half_open_interval: _between,
    type(constraints.corr_cholesky): lambda c: transforms.CorrCholeskyTransform(),
}


def _register_parts(registry: ConstraintRegistry) -> None:
    """Registers composed constraints, whose transforms are composed of the transforms of their parts."""
    registry.register(
        constraints.independent,
        lambda c: transforms.IndependentTransform(registry(c.base_constraint), c.reinterpreted_batch_ndims),
    )
    registry.register(
        constraints.cat,
        lambda c: transforms.CatTransform([registry(part) for part in c.cseq], c.dim, c.lengths),
    )
    registry.register(
        constraints.stack, lambda c: transforms.StackTransform([registry(part) for part in c.cseq], c.dim)
    )


for _registry in (biject_to, transform_to):
    for _constraint, _factory in _SCALAR.items():
        _registry.register(_constraint, _factory)
    _register_parts(_registry)

biject_to.register(constraints.simplex, lambda c: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda c: transforms.SoftmaxTransform())
transform_to.register(constraints.lower_cholesky, lambda c: transforms.LowerCholeskyTransform())
transform_to.register(constraints.positive_definite, lambda c: transforms.PositiveDefiniteTransform())
transform_to.register(constraints.positive_semidefinite, lambda c: transforms.PositiveDefiniteTransform())
