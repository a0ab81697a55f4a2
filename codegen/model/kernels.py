"""Functions that entries name as kernels and shape rules, and where they are defined."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from codegen.diagnostics import Location


class Kernel(NamedTuple):
    """The definition of a function.

    ``path`` is relative to the folder of the declarations, with forward slashes. ``is_local`` marks a
    definition that other files cannot call: in C++ static, or in an unnamed namespace. ``namespace`` is
    ``at::native`` or the like, and "" outside of all; None for a definition that is yet to be written.
    """

    symbol: str
    path: str
    line: int
    is_local: bool = False
    signature: str | None = None  # as written, ``void f(int64_t n)``; None where a macro writes it
    # The macros that choose a C++ type in its body: AT_DISPATCH_FLOATING. Empty if it calls others for that.
    dispatches: tuple[str, ...] = ()
    namespace: str | None = None


class DispatchCall(NamedTuple):
    """A call of a macro that chooses a C++ type, in any function of the kernel files."""

    macro: str
    name: str | None  # that its error message gives; None unless that is a literal
    symbol: str | None  # the function that it is in
    location: Location
    name_location: Location


# The fields of a Kernel. Pickles of them are read in a fraction of the time, as few are looked at.
_Row = tuple[str, str, int, bool, "str | None", tuple[str, ...], "str | None"]


class KernelIndex:
    """The definitions of each symbol, in path order.

    ``apart`` has the indices of dispatch keys whose kernels have the names of others: those of a GPU.
    ``calls`` are all calls of macros that choose a C++ type.
    """

    def __init__(
        self,
        kernels: Iterable[Kernel],
        apart: Mapping[str, KernelIndex] | None = None,
        calls: Iterable[DispatchCall] = (),
    ) -> None:
        self.dispatch_calls = tuple(calls)
        self._rows: dict[str, list[_Row]] = {}
        self._apart = apart or {}
        for k in kernels:
            row = (k.symbol, k.path, k.line, k.is_local, k.signature, k.dispatches, k.namespace)
            self._rows.setdefault(k.symbol, []).append(row)

    def on(self, key: str) -> KernelIndex:
        """The definitions that a dispatch key can name."""
        return self._apart.get(key, self)

    def _of(self, symbol: str) -> list[Kernel]:
        return [Kernel(*row) for row in self._rows.get(symbol, ())]

    def find(self, symbol: str) -> Kernel | None:
        """The first definition of ``symbol``; one that other files can call before a local one."""
        return min(self._of(symbol), key=lambda k: k.is_local, default=None)

    def all_of(self, symbol: str) -> list[Kernel]:
        """Every overload that other files can call."""
        return [k for k in self._of(symbol) if not k.is_local]

    def near(self, symbol: str) -> str | None:
        """The symbol that was probably meant; a last word in common, such as ``_kernel``, is not compared."""
        stem, _, last = symbol.rpartition("_")
        symbols = sorted(self.symbols())

        same_last = {s.rpartition("_")[0]: s for s in symbols if stem and s.endswith(f"_{last}")}
        close_stems = difflib.get_close_matches(stem, same_last, 1, 0.75)
        if close_stems:
            return same_last[close_stems[0]]

        others = [s for s in symbols if s not in same_last.values()]
        return next(iter(difflib.get_close_matches(symbol, others, 1, 0.85)), None)

    def definitions(self) -> Iterator[Kernel]:
        return chain.from_iterable(map(self._of, self._rows))

    def symbols(self) -> list[str]:
        return list(self._rows)
