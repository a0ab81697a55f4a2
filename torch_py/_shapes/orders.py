"""In which orders the sizes of recordings are.

Operators compare sizes, as for the length of a diagonal. If of two sizes the same one is the smaller in all
recordings, it is taken for what they compute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, permutations

from torch_py._shapes.formulas import Symbol

Order = list[Symbol]  # the smallest size comes first


def orders_of(symbols: Sequence[Symbol], smaller: Mapping[Symbol, set[Symbol]]) -> list[Order]:
    """A few orders: of any two symbols, each comes first in one, unless the other one has to be smaller.
    Each is the last one in one of them, too, where it may be much larger than all others.

    `smaller` are those that have to be smaller than a symbol, and smaller than these, and so on.
    """
    found = [_sorted(symbols, smaller)]
    seen = set(combinations(found[0], 2))
    # From the end: the first order that has the last symbol in front of others is the reverse, if it may be.
    backwards = symbols[::-1]
    for first, second in permutations(backwards, 2):
        if (first, second) not in seen and second not in smaller[first]:
            sooner = smaller[first] | {first}
            found.append(_sorted(sorted(backwards, key=lambda symbol: symbol not in sooner), smaller))
            seen.update(combinations(found[-1], 2))

    for last in symbols:
        may_be_last = not any(last in others for others in smaller.values())
        if may_be_last and all(order[-1] != last for order in found):
            found.append(_sorted([*(symbol for symbol in symbols if symbol != last), last], smaller))
    return found


def _sorted(symbols: Iterable[Symbol], smaller: Mapping[Symbol, set[Symbol]]) -> Order:
    """The symbols as they come, but each after those that have to be smaller."""
    found: Order = []
    rest = list(symbols)
    while rest:
        found.append(next(symbol for symbol in rest if smaller[symbol].isdisjoint(rest)))
        rest.remove(found[-1])
    return found


def all_smaller(
    pairs: Iterable[tuple[Symbol, Symbol]], symbols: Iterable[Symbol]
) -> dict[Symbol, set[Symbol]]:
    """For each symbol those that have to be smaller, if the first of each pair has to be smaller than the
    second."""
    found: dict[Symbol, set[Symbol]] = {symbol: set() for symbol in symbols}
    known = list(pairs)
    for _ in found:  # the longest chain has all symbols
        for first, second in known:
            found[second] |= {first, *found[first]}
    return found
