"""Limits the cost of reading a pickle, in proportion to its size.

Note [Small pickles of large values]: a pickle may refer to values that it has built before. A few bytes can
thus describe a tuple of 2**40 parts, in which each level contains the previous one twice. This costs nothing
until the tuple is hashed, copied or printed. In a file of torch.save, almost everything that is copied or
hashed is written out once, so a multiple of the pickle's size is enough for any honest file.

Tested in tests/torch_py/_serialization/test_hostile_files.py.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

_DEEPEST_KEY = 100
_LEAST = 1 << 16
_HASHED_PER_BYTE = 64
_COPIED_PER_BYTE = 4


def failure(message: str) -> pickle.UnpicklingError:
    """The error to raise for a file that is refused."""
    return pickle.UnpicklingError(f"Weights only load failed: {message}")


class Budget:
    """The limits for a pickle of `size` bytes."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._to_hash = _HASHED_PER_BYTE * size + _LEAST
        self._to_copy = _COPIED_PER_BYTE * size + _LEAST

    def copy(self, containers: Iterable[Any]) -> None:
        """Counts containers that a function is about to copy. Raises UnpicklingError if that is too much."""
        self._to_copy -= sum(map(len, containers))
        if self._to_copy < 0:
            raise failure(f"the file, of {self.size} bytes, copies the same values again and again")

    def check_keys(self, keys: Iterable[Any]) -> None:
        """Counts keys that are about to be hashed.

        Hashing recurses without a limit and visits a part each time it occurs. Raises UnpicklingError if that
        is too much.
        """
        for key in keys:
            if type(key) in (tuple, frozenset):
                self._check_key(key)

    def _check_key(self, key: Any) -> None:
        level = [key]
        for _ in range(_DEEPEST_KEY):
            self._to_hash -= sum(map(len, level))
            if self._to_hash < 0:
                raise failure(f"the file, of {self.size} bytes, has keys of too many parts")
            level = [part for each in level for part in each if type(part) in (tuple, frozenset)]
            if not level:
                return
        raise failure(f"the file has a key of tuples nested deeper than {_DEEPEST_KEY}")
