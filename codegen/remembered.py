"""Caches of functions of frozen objects, such as schemas, operators and formulas.

``remembered`` keeps answers with the object, and ``recently`` those to the last questions. Neither keeps
objects that nothing else needs, as ``functools.cache`` would do with every step of a simplification.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

Owner = TypeVar("Owner")
Answer = TypeVar("Answer")
Rest = ParamSpec("Rest")


class Remembering:
    """The base of classes with slots: a place for what is remembered, in addition to the fields."""


def remembered(function: Callable[[Owner], Answer]) -> Callable[[Owner], Answer]:
    """Remembers the results of ``function``, which takes one frozen object.

    Unlike with ``functools.cache``, the object need not be hashable.
    """
    key = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def answer(owner: Owner) -> Answer:
        known = owner.__dict__
        try:
            return known[key]  # type: ignore[no-any-return]
        except KeyError:
            found = known[key] = function(owner)
            return found

    return answer


def remembered_by(
    function: Callable[Concatenate[Owner, Rest], Answer],
) -> Callable[Concatenate[Owner, Rest], Answer]:
    """Remembers the results of ``function`` with its first argument, for each of the others."""
    key = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def answer(owner: Owner, /, *others: Rest.args, **named: Rest.kwargs) -> Answer:
        assert not named, f"{key} is called by position"
        known = owner.__dict__.get(key)
        if known is None:
            known = owner.__dict__[key] = {}
        try:
            return known[others]  # type: ignore[no-any-return]
        except KeyError:
            found = known[others] = function(owner, *others, **named)
            return found

    return answer


class cached_property(Generic[Answer]):
    """A property that is computed once; that of ``functools`` takes a lock for it before Python 3.12."""

    def __init__(self, function: Callable[[Any], Answer]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> cached_property[Answer]: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Answer: ...

    def __get__(self, owner: Any, kind: type) -> cached_property[Answer] | Answer:
        if owner is None:
            return self
        found = owner.__dict__[self.name] = self.function(owner)
        return found


def forget(owner: Remembering) -> None:
    """Drops all answers that were remembered with an object, and its cached properties."""
    owner.__dict__.clear()


# More than the steps of a long formula.
recently = lru_cache(maxsize=2000)
