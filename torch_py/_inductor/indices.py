"""Positions in tensors: sums of axes with whole factors, in a normal form.

    Linear      8 + 64 * i + j // 4
    atoms       Axis, Rounded (a quotient or a remainder), Loaded (an integer that a program reads)

Quotients and remainders disappear where the ranges of axes allow it, so a view of a view of a tensor is
usually affine again: with i < 4 and j < 8, ``(8 * i + j) // 8`` is ``i``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import gcd, prod
from typing import Any, TypeAlias

from torch_py._records import Record


def _below_size(self: Axis | Loaded) -> tuple[int, int]:
    return (0, max(self.size - 1, 0))


class Axis:
    """A loop variable, from 0 to `size` - 1. Equal only to itself."""

    __slots__ = ("name", "size")

    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size

    range = property(_below_size)

    def __repr__(self) -> str:
        return self.name


def axes_of(sizes: Sequence[int], letters: str = "ijklmn") -> list[Axis]:
    """An axis of each size, with these letters as names."""
    count = len(letters)
    return [Axis(letters[n % count] + str(n // count or ""), size) for n, size in enumerate(sizes)]


def bounds(axes: Iterable[Axis]) -> str:
    """A space as text."""
    return ", ".join(f"{axis} < {axis.size}" for axis in axes)


class Rounded(Record):
    """A quotient, ``value // divisor``, or a remainder, ``value % divisor``, which is never negative."""

    value: Linear
    divisor: int
    sign: str  # "//" or "%"

    @property
    def range(self) -> tuple[int, int]:
        if self.sign == "%":
            return (0, self.divisor - 1)
        low, high = self.value.range
        return (low // self.divisor, high // self.divisor)

    def __repr__(self) -> str:
        return f"({self.value}) {self.sign} {self.divisor}"


class Loaded(Record):
    """An integer that an expression computes, known to lie between 0 and `size` - 1."""

    value: Any
    size: int

    range = property(_below_size)

    def __repr__(self) -> str:
        return str(self.value)


Atom: TypeAlias = Axis | Rounded | Loaded


class Linear:
    """``constant + factor * atom + ...``; equal to another with the same terms in any order."""

    __slots__ = ("_hash", "_range", "constant", "terms")

    def __init__(self, constant: int, terms: Mapping[Atom, int] | None = None) -> None:
        self.constant = constant
        self.terms: dict[Atom, int] = terms or {}  # type: ignore[assignment]
        if 0 in self.terms.values():
            self.terms = {a: f for a, f in self.terms.items() if f != 0}
        self._hash: int | None = None
        self._range: tuple[int, int] | None = None

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        if self._range is None:
            low = high = self.constant
            for atom, factor in self.terms.items():
                ends = sorted(factor * end for end in atom.range)
                low += ends[0]
                high += ends[1]
            self._range = (low, high)
        return self._range

    def factor(self, axis: Axis) -> int:
        """How far one step along `axis` leads, quotients and remainders aside."""
        return self.terms.get(axis, 0)

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.constant + other, self.terms) if other else self
        if not other.terms:
            return Linear(self.constant + other.constant, self.terms) if other.constant else self
        if not self.terms and not self.constant:
            return other
        terms = dict(self.terms)
        for atom, factor in other.terms.items():
            terms[atom] = terms.get(atom, 0) + factor
        return _rejoined(Linear(self.constant + other.constant, terms))

    def __mul__(self, factor: int) -> Linear:
        if factor == 1:
            return self
        return Linear(self.constant * factor, {a: f * factor for a, f in self.terms.items()})

    def __sub__(self, other: Linear) -> Linear:
        return self + other * -1

    def __floordiv__(self, divisor: int) -> Linear:
        return divmod(self, divisor)[0]

    def __mod__(self, divisor: int) -> Linear:
        return divmod(self, divisor)[1]

    def __divmod__(self, divisor: int) -> tuple[Linear, Linear]:
        if divisor == 1:
            return self, Linear(0)
        whole, rest = self._split(divisor)
        low, high = [end // divisor for end in rest.range]
        whole += low
        rest += -low * divisor  # C++ rounds negative numbers in another way
        if low == high:
            return whole, rest

        reduced = Linear(rest.constant % divisor, {a: f % divisor for a, f in rest.terms.items()})
        steps, part = rest._steps(divisor)
        if steps is None:
            quotient, remainder = _quotient(rest, divisor), _atom(Rounded(rest, divisor, "%"))
        else:
            quotient, remainder = divmod(steps[0], divisor // steps[1])
            remainder = remainder * steps[1] + part
        return whole + quotient, reduced if reduced.range[1] < divisor else remainder

    def _steps(self, divisor: int) -> tuple[tuple[Linear, int] | None, Linear]:
        """The value as steps of a length that divides `divisor`, and a part that is shorter than a step.

        ``32 * i + j`` with j < 32 are i steps of 32.
        """
        for length in sorted({gcd(divisor, factor) for factor in self.terms.values()}, reverse=True):
            if length == 1:
                continue
            steps = {a: f // length for a, f in self.terms.items() if f % length == 0}
            part = Linear(self.constant % length, {a: f for a, f in self.terms.items() if f % length != 0})
            low, high = part.range
            if 0 <= low and high < length:
                return (Linear(self.constant // length, steps), length), part
        return None, self

    def _split(self, divisor: int) -> tuple[Linear, Linear]:
        """The part that `divisor` divides, divided by it, and the rest."""
        whole = {a: f // divisor for a, f in self.terms.items() if f % divisor == 0}
        rest = {a: f for a, f in self.terms.items() if f % divisor != 0}
        return Linear(0, whole), Linear(self.constant, rest)

    def replaced(self, axes: Mapping[Axis, Linear], values: Callable[[Any], Any] = lambda v: v) -> Linear:
        """The same with other terms for axes; `values` does the same in what is loaded."""
        result = Linear(self.constant)
        for atom, factor in self.terms.items():
            if isinstance(atom, Axis):
                new = axes.get(atom) or _atom(atom)
            elif isinstance(atom, Loaded):
                new = _atom(Loaded(values(atom.value), atom.size))
            else:
                quotient, remainder = divmod(atom.value.replaced(axes, values), atom.divisor)
                new = remainder if atom.sign == "%" else quotient
            result = result + new * factor
        return result

    def atoms(self) -> Iterator[Atom]:
        """Its atoms, and those inside of quotients and remainders."""
        for atom in self.terms:
            yield atom
            if isinstance(atom, Rounded):
                yield from atom.value.atoms()

    def axes(self) -> Iterator[Axis]:
        """The axes that it depends on, those of loaded integers aside."""
        return (atom for atom in self.atoms() if isinstance(atom, Axis))

    def loaded(self) -> list[Any]:
        """The expressions that it loads integers by."""
        return [atom.value for atom in self.atoms() if isinstance(atom, Loaded)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Linear) and self.constant == other.constant and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.constant, frozenset(self.terms.items())))
        return self._hash

    def __repr__(self) -> str:
        signs = {1: "", -1: "-"}
        parts = [f"{signs.get(factor, f'{factor} * ')}{atom}" for atom, factor in self.terms.items()]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def _atom(atom: Atom) -> Linear:
    return Linear(0, {atom: 1})


def _quotient(value: Linear, divisor: int) -> Linear:
    """Another atom in a sum, for a quotient that cannot be split. That of a quotient is one quotient."""
    if value.constant == 0 and list(value.terms.values()) == [1]:
        (atom,) = value.terms
        if isinstance(atom, Rounded) and atom.sign == "//":
            return atom.value // (atom.divisor * divisor)
    return _atom(Rounded(value, divisor, "//"))


def _rejoined(value: Linear) -> Linear:
    """``(x // n) * n + x % n`` is x."""
    for atom, factor in value.terms.items():
        if isinstance(atom, Rounded) and atom.sign == "%":
            whole = atom.value // atom.divisor
            if whole.constant or len(whole.terms) != 1:
                continue
            ((quotient, step),) = whole.terms.items()
            if value.terms.get(quotient, 0) == factor * atom.divisor * step:
                rest = {a: f for a, f in value.terms.items() if a != atom and a != quotient}
                return Linear(value.constant, rest) + atom.value * factor
    return value


def linear(value: int | Axis) -> Linear:
    """A number or an axis as a position. An axis with one position is 0."""
    if isinstance(value, Axis):
        return Linear(0) if value.size == 1 else _atom(value)
    return Linear(value)


def flattened(index: Sequence[Linear], strides: Sequence[int], offset: int = 0) -> Linear:
    """The position in memory, or in a row, of an index."""
    total = Linear(offset)
    for position, stride in zip(index, strides):
        total = total + position * stride
    return total


def count_of(axes: Iterable[Axis]) -> int:
    """The number of positions in a space."""
    return prod([axis.size for axis in axes])


def contiguous(sizes: Sequence[int]) -> tuple[int, ...]:
    """The strides of a tensor whose elements are one after another."""
    strides = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size or 1
    return tuple(reversed(strides))


def unflattened(position: Linear, sizes: Sequence[int]) -> tuple[Linear, ...]:
    """The index of which `position` is the place in a row."""
    index = []
    for size in reversed(sizes[1:]):
        position, own = divmod(position, size)
        index.append(own)
    return (position, *reversed(index)) if sizes else ()
