"""Constraints made of others: for all elements of an event, for parts of a tensor, for mixtures."""

from __future__ import annotations

from collections.abc import Sequence

import torch_py as torch
from torch_py import Tensor
from torch_py.distributions.constraints._base import Constraint, _require
from torch_py.distributions.constraints._values import real

__all__ = ["MixtureSameFamilyConstraint", "cat", "independent", "real_vector", "stack"]


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


independent = _IndependentConstraint
real_vector = independent(real, 1)
cat = _Cat
stack = _Stack
