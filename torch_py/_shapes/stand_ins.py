"""The numbers that stand for sizes while a program is recorded, others for each recording.

Most are large primes, which can be found again in the numbers that a program computes. Where operators take
a number in a range only, such as positions in a tensor of a fixed size, it is one of the range instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, permutations
from typing import NamedTuple

from torch_py._shapes.formulas import Symbol

# No quotient of one, as convolutions with strides and pooling have, is near a multiple of another or the sum
# of two; nor are sums, differences and small multiples. The product of three times a number of channels is
# still an int64.
PRIMES = (31219, 45833, 58763, 63029, 69857, 77351, 81371, 87719)

# Smaller numbers are too common to tell which sizes they come from.
SMALLEST = 5000

RECORDINGS = 4  # at least, to tell formulas
MOST_RECORDINGS = 12


class Range(NamedTuple):
    """What a number may be for operators. `is_guarded`: code is for this range alone, not for all that other
    guards allow. `share` is how many numbers have this limit together, as those of a sum.
    """

    low: int
    high: int
    is_guarded: bool
    share: int

    def near(self, number: int) -> Range:
        """How far `number` may go if the others that share the limit go as far."""
        low = number - (number - self.low) // self.share
        high = number + (self.high - number) // self.share
        return Range(low, high, self.is_guarded, 1)

    def both(self, other: Range) -> Range:
        """What is in both ranges."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        is_guarded = self.is_guarded or other.is_guarded
        return Range(low, high, is_guarded, max(self.share, other.share))


def furthest(holds: Callable[[int], bool], start: int, end: int) -> int:
    """The last number on the way from `start` to `end` for which `holds` is true, as growing steps find it:
    the numbers for which it is true are taken to have no gaps."""
    direction = 1 if end > start else -1
    last, step = start, 1
    while step:
        following = last + direction * min(step, abs(end - last))
        if following != last and holds(following):
            last, step = following, step * 2
        else:
            step //= 2
    return last


_MOST_SAMPLES = 12
_FEWEST_SAMPLES = 5
_MOST_ORDERS = 20
_BLOCK = 64


def mixed_stand_ins_of(symbols: Sequence[Symbol], number: int) -> dict[Symbol, int]:
    """A size for each symbol, others for another `number`: primes first, then multiples of 64, and even ones
    next to those.

    Odd sizes do not show how quotients of even ones are rounded. Multiples of 64, and primes of one more,
    show where quotients by powers of two are rounded up, as those of convolutions with strides are.
    """
    found = stand_ins_of(symbols, number)
    if number % 3 == 0:
        return found
    rest = 2 * (number % 3 - 1)
    return {
        symbol: size if symbol.samples else size // _BLOCK * _BLOCK + rest for symbol, size in found.items()
    }


def stand_ins_of(symbols: Sequence[Symbol], number: int) -> dict[Symbol, int]:
    """A prime, or a sample, for each symbol, others for another `number`.

    The distance from the first primes is another for each symbol: of sizes that grow alike, one would be
    taken for another and a constant.
    """
    found = {}
    # Half of a size times half of another is a quarter of both for one of the rests alone.
    rest = (5, 7, 1, 3)[number % 4 - 1]
    for position, (symbol, prime) in enumerate(zip(symbols, PRIMES)):
        if symbol.samples:
            found[symbol] = symbol.samples[number % len(symbol.samples)]
        else:
            grown = prime + number * 997 * (2 + 3 * position)
            found[symbol] = prime if number == 0 else _next_prime(grown, rest)
    return found


def _next_prime(number: int, rest: int) -> int:
    """The next prime that is `rest` more than a multiple of a block."""
    while number % _BLOCK != rest or any(number % d == 0 for d in range(3, math.isqrt(number) + 1, 2)):
        number += 1
    return number


def samples_in(allowed: Range, others: Sequence[Sequence[int]] = ()) -> tuple[int, ...]:
    """Numbers of a range that tell a symbol from the `others`, which have these samples: none follows from
    another. Empty for a range that has too few."""
    numbers = range(allowed.low, allowed.high + 1)
    if len(numbers) < _FEWEST_SAMPLES:
        return ()

    import random  # imported here: few programs have such ranges

    for seed in range(_MOST_ORDERS):
        order = random.Random(seed)
        found = tuple(order.sample(numbers, min(len(numbers), _MOST_SAMPLES)))
        if not any(_is_linear(found, other) for other in others):
            return found
    return ()


def _is_linear(samples: Sequence[int], others: Sequence[int]) -> bool:
    """Whether the first samples are a factor times others, plus a number."""
    (x, *xs), (y, *ys) = samples[:4], others[:4]
    return all((a - x) * (ys[0] - y) == (b - y) * (xs[0] - x) for a, b in zip(xs, ys))


# Orders
# ------------------------------------------------------------

# Operators compare sizes, as for the length of a diagonal. If of two sizes the same one is the smaller in all
# recordings, it is taken for what they compute.


def orders_of(symbols: Sequence[Symbol], smaller: Mapping[Symbol, set[Symbol]]) -> list[list[Symbol]]:
    """A few orders from small to large: of any two symbols, each comes first in one, unless the other one has
    to be smaller. Each is the last one in one of them, too, where it may be much larger than all others.

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


def _sorted(symbols: Iterable[Symbol], smaller: Mapping[Symbol, set[Symbol]]) -> list[Symbol]:
    """The symbols as they come, but each after those that have to be smaller."""
    found: list[Symbol] = []
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
