"""A cache for functions of one frozen object, kept with the object: schemas, operators and formulas."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Owner = TypeVar("Owner")
Answer = TypeVar("Answer")


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
