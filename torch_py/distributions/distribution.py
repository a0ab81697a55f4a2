"""`Distribution`, the base class of all distributions: shapes, validation, and parameters that are broadcast
and expanded together."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch_py as torch
from torch_py import Size, Tensor
from torch_py.distributions import constraints
from torch_py.distributions.utils import broadcast_all, lazy_property

__all__ = ["Distribution"]

_NAN = float("nan")
_INF = float("inf")


class Distribution:
    """A batch of probability distributions.

    `batch_shape` is the shape of the parameters and `event_shape` that of one draw. Samples have the shape
    sample_shape + batch_shape + event_shape, and `log_prob` that of a sample without event_shape.
    `validate_args` (on by default, off under ``python -O``) checks parameters in the constructor and values
    given to methods; both raise ValueError.

    Args:
        batch_shape: the shape of the parameters; default ()
        event_shape: the shape of one draw; default ()
        validate_args: whether arguments are checked; default None, which is True unless Python runs with -O

    Example:
        >>> isinstance(torch.distributions.Normal(0.0, 1.0), torch.distributions.Distribution)
        True
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    # The names of the attributes that `expand` expands. The class that lists them must also define `__init__`
    # and `expand`, see `_checked_copy`.
    _parameters: tuple[str, ...] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether new distributions validate their arguments by default."""
        if value not in (True, False):
            raise ValueError(f"value must be True or False, but got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Sequence[int] = Size([]),
        event_shape: Sequence[int] = Size([]),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)

        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()

        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or "
                "initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return

        for name, constraint in arg_constraints.items():
            # A lazy property follows from the parameter that was given.
            is_lazy = isinstance(getattr(type(self), name, None), lazy_property)
            is_computed = name not in self.__dict__ and is_lazy
            if constraints.is_dependent(constraint) or is_computed:
                continue

            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n{value}"
                )

    def _initialize(self, validate_args: bool | None, **parameters: Tensor | float) -> None:
        """Broadcasts the parameters, stores them as attributes, and makes their shape the batch shape."""
        tensors = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, tensors))
        Distribution.__init__(self, tensors[0].shape, validate_args=validate_args)

    def _checked_copy(self, _instance: Any) -> Any:
        """`_instance`, or a new object without attributes.

        Raises NotImplementedError if this would skip the `__init__` of a subclass.
        """
        if _instance is not None:
            return _instance

        own = type(self)
        owner = next(c for c in own.__mro__ if "_parameters" in vars(c))
        if own.__init__ is not owner.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {own.__name__} of {owner.__name__} that defines a custom __init__ method must "
                "also define a custom .expand() method."
            )
        return own.__new__(own)

    def _get_checked_instance(self, cls: type, _instance: Distribution | None = None) -> Any:
        """The helper for `expand` under PyTorch's name, for subclasses in other packages.

        `cls` is the class that defines `expand`.
        """
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def expand(self, batch_shape: Sequence[int], _instance: Distribution | None = None) -> Any:
        """Expands the distribution to `batch_shape`, to which its own must broadcast; parameters become
        views.

        `_instance` is an object that a subclass has created, to be filled in.
        """
        if not self._parameters:
            raise NotImplementedError(f"{type(self)} does not implement expand")

        new = self._checked_copy(_instance)
        self._expand_parameters(new, Size(batch_shape))
        return self._finish(new, batch_shape, self.event_shape)

    def _expand_parameters(self, new: Any, batch_shape: Size) -> None:
        arg_constraints = self.arg_constraints
        for name in self._parameters:
            value = self.__dict__.get(name)
            if value is not None:  # one of probs and logits may not have been computed
                event_dim = arg_constraints[name].event_dim if name in arg_constraints else 0
                new.__dict__[name] = value.expand(batch_shape + value.shape[value.dim() - event_dim :])

    def _finish(self, new: Any, batch_shape: Sequence[int], event_shape: Sequence[int]) -> Any:
        """Sets the shapes of a copy. Its parameters are valid and are not validated again."""
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The constraint of each parameter."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that values of the distribution fulfil."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The value with the highest density or probability."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The standard deviation, the square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        """Draws values of shape sample_shape + batch_shape + event_shape, without gradient."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        """Draws values that are differentiable with respect to the parameters.

        Raises NotImplementedError if `has_rsample` is False.
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Deprecated; use `sample((n,))`."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density or probability of `value`, which must broadcast with
        batch_shape + event_shape."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a value not above `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The quantiles at probabilities `value`, the inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution, along a new first dimension: shape (n,) + batch_shape +
        event_shape. Without `expand` the batch dimensions have size 1."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The differential or Shannon entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """exp of the entropy."""
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = Size([])) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape  # type: ignore[return-value]

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Brings values of shape (n,) + event_shape into the shape that `enumerate_support` returns."""
        shape = values.shape[1:]
        values = values.reshape(values.shape[:1] + (1,) * len(self._batch_shape) + shape)
        return values.expand(values.shape[:1] + self._batch_shape + shape) if expand else values

    def _validate_sample(self, value: Tensor) -> None:
        """Raises ValueError unless `value` is a tensor that broadcasts to the shape of this distribution and
        lies in its support."""
        if not isinstance(value, Tensor):
            raise ValueError(f"The value argument to log_prob must be a Tensor, but got {value!r}")

        events = len(self._event_shape)
        if value.shape[value.dim() - events :] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.shape} vs {self._event_shape}."
            )

        expected = self._batch_shape + self._event_shape
        for size, wanted in zip(reversed(value.shape), reversed(expected)):
            if size != 1 and wanted != 1 and size != wanted:
                raise ValueError(
                    f"Value is not broadcastable with batch_shape+event_shape: {value.shape} vs {expected}."
                )

        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return

        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be "
                f"within the support ({support!r}) of the distribution {self!r}, but found invalid "
                f"values:\n{value}"
            )

    def _checked(self, value: Tensor) -> Tensor:
        """`value`, after validation if it is on."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            value = self.__dict__.get(name)
            if value is not None:
                shown.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"
