"""What reading a pickle may cost, in proportion to its size.

Note [Little that stands for much]: a pickle may refer to what it has built before, so that a few bytes stand
for a tuple of 2**40 parts
(each holds the one before it twice), which costs nothing until somebody hashes, copies or prints it. A file
of torch.save has what it copies and hashes written out, most of it once. So a multiple of the size of the
pickle is enough for any honest file.

tests/torch_py/_serialization/test_hostile_files.py
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from typing import Any

_DEEPEST_KEY = 100
_LEAST = 1 << 16
_HASHED_PER_BYTE, _COPIED_PER_BYTE = 64, 4


def failure(message: str) -> pickle.UnpicklingError:
    return pickle.UnpicklingError(f"Weights only load failed: {message}")


class Budget:
    """For a pickle of `size` bytes."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._to_hash, self._to_copy = _HASHED_PER_BYTE * size + _LEAST, _COPIED_PER_BYTE * size + _LEAST

    def copy(self, containers: Iterable[Any]) -> None:
        """Before a function is called that copies them. Raises UnpicklingError when that has been too
        much."""
        self._to_copy -= sum(map(len, containers))
        if self._to_copy < 0:
            raise failure(f"the file, of {self.size} bytes, copies the same values again and again")

    def check_keys(self, keys: Iterable[Any]) -> None:
        """Before they are hashed, which recurses without a limit of its own and visits a part as often as it
        occurs."""
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
