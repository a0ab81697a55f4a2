"""Values that compiled code passes on without knowing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Held:
    """A float or a text of the program, of class `kind`, which may be another one in the next call. It can be
    moved and stored; whatever looks at it calls `refuse`, which raises an exception."""

    __slots__ = ("kind", "refuse", "source")

    def __init__(self, kind: type, source: Any, refuse: Callable[[], Any]) -> None:
        self.kind = kind
        self.source = source
        self.refuse = refuse


def _refusing(self: Held, *operands: Any) -> Any:
    return self.refuse()


_BINARY = "add sub mul truediv floordiv mod pow divmod and or xor lshift rshift matmul".split()
_NAMES = (
    "eq ne lt le gt ge hash bool len getitem contains iter neg pos abs invert int float complex index round "
    "trunc floor ceil format repr str bytes fspath"
).split()
for _name in (*_NAMES, *_BINARY, *(f"r{name}" for name in _BINARY)):
    setattr(Held, f"__{_name}__", _refusing)
