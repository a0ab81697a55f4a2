"""A version string that compares as a version: `torch.__version__ >= (2, 1)`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["TorchVersion"]

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)((?:a|b|rc)\d*|\.?dev\d*)?[^+]*(?:\+(.*))?$")


def _key(text: str) -> tuple[tuple[int, ...], bool, str, str] | None:
    """What versions are ordered by: numbers without trailing zeros, release after pre-release, its name, the
    local part. None: no version."""
    match = _VERSION.match(text.strip())
    if match is None:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), match[2] is None, match[2] or "", match[3] or ""


class TorchVersion(str):
    """Text that compares with text and tuples by version: '2.9' < '2.13.0+cpu'.

    Other text compares as text.

    With a local part (after +) it is newer than the same version without.
    """

    def _order(self, other: Any) -> int | None:
        """-1, 0 or 1; None for an `other` that versions do not compare with."""
        if isinstance(other, str):
            mine = str(self)
            its = str(other)
        elif isinstance(other, Iterable):
            mine = str(self)
            its = ".".join(map(str, other))
        else:
            return None
        first = _key(mine)
        second = _key(its)
        if first is None or second is None:
            return (mine > its) - (mine < its)
        return (first > second) - (first < second)

    def __lt__(self, other: Any) -> bool:
        order = self._order(other)
        return NotImplemented if order is None else order < 0

    def __le__(self, other: Any) -> bool:
        order = self._order(other)
        return NotImplemented if order is None else order <= 0

    def __gt__(self, other: Any) -> bool:
        order = self._order(other)
        return NotImplemented if order is None else order > 0

    def __ge__(self, other: Any) -> bool:
        order = self._order(other)
        return NotImplemented if order is None else order >= 0

    def __eq__(self, other: object) -> bool:
        return self._order(other) == 0

    def __ne__(self, other: object) -> bool:
        return self._order(other) != 0

    __hash__ = str.__hash__
