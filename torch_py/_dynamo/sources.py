"""Where a value came from: the steps from an argument or a fixed object to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any


class Source:
    """One step to a value, after the steps to its `base`.

    kind       key               the value is
    argument   position          an argument of the compiled function
    constant   the object        that very object
    attr       name              an attribute of the base
    item       position          an element of a list or tuple
    key        key               an entry of a dictionary
    cell       None              what is in the cell
    call       a function        what it returns, called without arguments
    lookup     a function        the same, for functions that read from a class which is watched

    `text` is how messages call it. A source is *fixed* if it is an entry of a particular dictionary, or of a
    particular class: these can be watched, so that what was read from them need not be read again. Those of
    modules are noted, as tensors there keep their sizes.
    """

    __slots__ = ("base", "is_fixed", "is_of_module", "key", "kind", "text")

    def __init__(self, kind: str, base: Source | None, key: Any, text: str) -> None:
        self.kind = kind
        self.base = base
        self.key = key
        self.text = text
        self.is_fixed = self._fixed()
        self.is_of_module: bool = base is not None and base.is_of_module

    def _fixed(self) -> bool:
        if self.kind == "constant":
            return isinstance(self.key, (dict, type))
        if self.kind == "lookup":
            return True
        if self.base is None or not self.base.is_fixed:
            return False
        if self.base.kind == "constant":
            return self.kind == ("key" if isinstance(self.base.key, dict) else "attr")
        return self.kind == "attr" and self.key == "__func__"

    def __repr__(self) -> str:
        return self.text

    def steps(self) -> Iterator[Source]:
        """This source and those before it, the first one first."""
        if self.base is not None:
            yield from self.base.steps()
        yield self


class Sources:
    """Makes sources, one for each place: equal places are the same object."""

    def __init__(self) -> None:
        self._known: dict[Any, Source] = {}

    def argument(self, position: int, name: str) -> Source:
        return self._get("argument", None, position, f"L[{name!r}]")

    def constant(self, value: Any, text: str) -> Source:
        return self._get("constant", None, value, text, id(value))

    def attr(self, base: Source, name: str) -> Source:
        return self._get("attr", base, name, f"{base.text}.{name}")

    def item(self, base: Source, position: int) -> Source:
        return self._get("item", base, position, f"{base.text}[{position}]")

    def key(self, base: Source, key: Any) -> Source:
        return self._get("key", base, key, f"{base.text}[{_short(key)}]")

    def cell(self, base: Source) -> Source:
        return self._get("cell", base, None, base.text if base.kind == "constant" else f"{base.text}()")

    def call(self, text: str, function: Callable[..., Any], *args: Any, kind: str = "call") -> Source:
        """What a function returns for these arguments."""
        return self._get(kind, None, partial(function, *args), text, (function, *map(id, args)))

    def _get(self, kind: str, base: Source | None, key: Any, text: str, identity: Any = None) -> Source:
        place = (kind, id(base), identity or (type(key), key))
        found = self._known.get(place)
        if found is None:
            found = self._known[place] = Source(kind, base, key, text)
        return found


def _short(key: Any) -> str:
    text = repr(key) if type(key) in (str, int, float, bool, tuple, type(None)) else f"a {type(key).__name__}"
    return text if len(text) < 60 else text[:57] + "..."
