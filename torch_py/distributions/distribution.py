"""The base of all distributions: shapes, validation, and parameters that broadcast and expand together."""

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

    `batch_shape` is the shape of the parameters, `event_shape` that of one draw; samples have shape
    sample_shape + batch_shape + event_shape and `log_prob` has that of a sample without event_shape.
    `validate_args` (default: on under normal Python) checks parameters when the distribution is made and
    values given to it; either raises ValueError.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    # Names of the attributes that `expand` expands. The class that lists them owns `__init__` and `expand`,
    # see `_checked_copy`.
    _parameters: tuple[str, ...] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions that are made from now on validate, unless they are told otherwise."""
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
                "initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        for name, constraint in arg_constraints.items():
            computed = name not in self.__dict__ and isinstance(
                getattr(type(self), name, None), lazy_property
            )
            if constraints.is_dependent(constraint) or computed:
                continue  # a lazy one follows from the parameter that was given
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} "
                    f"to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def _initialize(self, validate_args: bool | None, **parameters: Tensor | float) -> None:
        """Broadcasts the parameters, keeps them as attributes, and makes their shape the batch shape."""
        tensors = broadcast_all(*parameters.values())
        self.__dict__.update(zip(parameters, tensors))
        Distribution.__init__(self, tensors[0].shape, validate_args=validate_args)

    def _checked_copy(self, _instance: Any) -> Any:
        """`_instance`, or a new object without attributes; NotImplementedError when a subclass's own __init__
        would be left out."""
        if _instance is not None:
            return _instance
        own = type(self)
        owner = next(c for c in own.__mro__ if "_parameters" in vars(c))
        if own.__init__ is not owner.__init__:
            raise NotImplementedError(
                f"Subclass {own.__name__} of {owner.__name__} that defines a custom __init__ method must "
                "also define a custom .expand() method."
            )
        return own.__new__(own)

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """As PyTorch names it, for `expand` of subclasses written elsewhere: `cls` is the class that defines
        the `expand`."""
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same distribution for `batch_shape`, to which the present one must broadcast; parameters become
        views.

        `_instance` is an object made by a subclass, to be filled in.
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
            if value is not None:  # of probs and logits one may not have been computed
                event = value.shape[
                    value.dim() - (arg_constraints[name].event_dim if name in arg_constraints else 0) :
                ]
                new.__dict__[name] = value.expand(batch_shape + event)

    def _finish(self, new: Any, batch_shape: Sequence[int], event_shape: Sequence[int]) -> Any:
        """Shapes of a copy; what was valid is not validated again."""
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Size:
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """What each parameter must satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that values of the distribution satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    def sample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        """Draws of shape sample_shape + batch_shape + event_shape, without gradient."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = Size([])) -> Tensor:
        """Draws that are differentiable by the parameters; NotImplementedError where `has_rsample` is
        False."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Deprecated: `sample((n,))`."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning, stacklevel=2
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of density or probability at `value`, which broadcasts against batch_shape +
        event_shape."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf` at probabilities `value`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values, along a new first dimension, of shape (n,) + batch_shape + event_shape; batch
        dimensions are 1 without `expand`."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Differential or Shannon entropy in nats, of shape batch_shape."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape: Sequence[int] = Size([])) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Values of shape (n,) + event_shape as `enumerate_support` returns them."""
        shape = values.shape[1:]
        values = values.reshape(values.shape[:1] + (1,) * len(self._batch_shape) + shape)
        return values.expand(values.shape[:1] + self._batch_shape + shape) if expand else values

    def _validate_sample(self, value: Tensor) -> None:
        """Raises ValueError unless `value` is a tensor that broadcasts to this distribution and lies in its
        support."""
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
                "distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be "
                f"within the support ({support!r}) "
                f"of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _checked(self, value: Tensor) -> Tensor:
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
