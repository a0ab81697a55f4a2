"""`kl_divergence(p, q)`, whose formula depends on the classes of p and q, and `register_kl`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from torch_py import Tensor
from torch_py.distributions.distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {}
_KL_MEMOIZE: dict[tuple[type, type], Any] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Any], Any]:
    """Decorates a function that computes KL(p || q) for p of `type_p` and q of `type_q`, including subclasses
    without a closer function.

    Both may be classes of other libraries. Raises TypeError for anything that is not a class.

    Args:
        type_p: the class of p
        type_q: the class of q

    Example:
        >>> class Point(torch.distributions.Distribution):
        ...     pass
        >>> @torch.distributions.register_kl(Point, Point)
        ... def between_points(p, q):
        ...     return 0.0
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):
            raise TypeError(f"Expected {name} to be a class, but got {given!r}")

    def decorator(function: Callable[[Any, Any], Tensor]) -> Callable[[Any, Any], Tensor]:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()  # a closer match may exist now
        return function

    return decorator


def _dispatch_kl(type_p: type, type_q: type) -> Any:
    """The function registered for the nearest base classes, comparing those of p first.

    It warns if comparing q first gives another function, and returns NotImplemented without any.
    """
    distances = {
        (left, right): (type_p.__mro__.index(left), type_q.__mro__.index(right))
        for left, right in _KL_REGISTRY
        if issubclass(type_p, left) and issubclass(type_q, right)
    }
    if not distances:
        return NotImplemented

    by_p = min(distances, key=lambda pair: distances[pair])
    by_q = min(distances, key=lambda pair: distances[pair][::-1])
    if _KL_REGISTRY[by_p] is not _KL_REGISTRY[by_q]:
        names = [f"{left.__name__}, {right.__name__}" for left, right in (by_p, by_q)]
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}): ({names[0]}) is used, "
            f"({names[1]}) is as near. Please register_kl({type_p.__name__}, {type_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )

    return _KL_REGISTRY[by_p]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """The Kullback-Leibler divergence KL(p || q), the mean of log p(x) - log q(x) under p, of shape
    batch_shape.

    Raises NotImplementedError for classes without a registered formula.

    >>> import torch_py.distributions as D
    >>> D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(2.0, 1.0))
    tensor(2.)
    """
    pair = type(p), type(q)
    if pair not in _KL_MEMOIZE:
        _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    function = _KL_MEMOIZE[pair]
    if function is NotImplemented:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return function(p, q)
