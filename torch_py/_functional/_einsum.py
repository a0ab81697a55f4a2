"""Einstein summation: a plan of products of two operands each, in the order of the fewest multiplications."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torch_py.backends import opt_einsum

# Dimensions under an ellipsis are named by characters that no equation contains.
_ELLIPSIS_NAMES = "".join(chr(0x100 + index) for index in range(64))
# Up to as many operands every order is tried (3^n pairs of subsets); beyond, the cheapest pair is taken again
# and again.
_EXHAUSTIVE = 8


def contract(equation: str, operands: Sequence[Any]) -> Any:
    plan = _plan(equation, tuple(tuple(operand.shape) for operand in operands), opt_einsum.enabled)
    tensors = [prepare(operand) for prepare, operand in zip(plan.preparations, operands)]
    for first, second, pair in plan.pairs:
        tensors.append(pair(tensors[first], tensors[second]))
        tensors[first] = tensors[second] = None  # what is no longer needed is freed
    result = tensors[-1]
    return result if plan.order is None else result.permute(plan.order)


def equation_of(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """Of operands each followed by a list of dimension numbers, `einsum(a, [0, 1], b, [1, 2], [0, 2])`, the
    equation and the operands."""
    operands = list(arguments[0:-1:2]) if len(arguments) % 2 else list(arguments[0::2])
    equation = ",".join(_subscripts(subscripts) for subscripts in arguments[1::2])
    return (f"{equation}->{_subscripts(arguments[-1])}" if len(arguments) % 2 else equation), operands


def _subscripts(numbers: Sequence[Any]) -> str:
    for number in numbers:
        if number is not Ellipsis and not 0 <= number < 52:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    return "".join("..." if number is Ellipsis else letters[number] for number in numbers)


# The equation


def _parse(equation: str, ranks: Sequence[int]) -> tuple[list[str], str]:
    """The dimension names of each operand and of the output, ellipses replaced by names."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        more = "fewer" if len(terms) > len(ranks) else "more"
        raise RuntimeError(f"einsum(): {more} operands were provided than specified in the equation")

    hidden = [_hidden_dimensions(index, term, rank) for index, (term, rank) in enumerate(zip(terms, ranks))]
    longest = max(hidden)
    inputs = [
        term.replace("...", _ELLIPSIS_NAMES[longest - width : longest]) for term, width in zip(terms, hidden)
    ]

    covered = _ELLIPSIS_NAMES[:longest]
    everything = "".join(terms).replace("...", "")

    if not arrow:
        return inputs, covered + "".join(
            sorted(letter for letter in set(everything) if everything.count(letter) == 1)
        )

    _check_letters("the output", right, len(left) + 2)
    output = right.replace("...", covered)
    for letter in output:
        if output.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
        if not any(letter in names for names in inputs):
            raise RuntimeError(
                f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
            )

    return inputs, output


def _hidden_dimensions(index: int, term: str, rank: int) -> int:
    """The number of dimensions that the ellipsis of one operand covers."""
    _check_letters(f"operand {index}", term, 0)
    letters = len(term.replace("...", ""))

    if "..." not in term and letters != rank:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({letters}) does not match the number of "
            f"dimensions ({rank}) for operand "
            f"{index} and no ellipsis was given"
        )

    if letters > rank:
        raise RuntimeError(
            f"einsum(): the number of subscripts in the equation ({letters}) is more than the number of "
            f"dimensions ({rank}) for operand {index}"
        )

    return rank - letters


def _check_letters(whose: str, term: str, offset: int) -> None:
    if term.count("...") > 1:
        raise RuntimeError(f"einsum(): found '.' for {whose} for which an ellipsis was already found")

    rest = term.replace("...", "", 1)
    if "." in rest:
        raise RuntimeError(f"einsum(): found '.' for {whose} that is not part of any ellipsis")

    for letter in rest:
        if not ("a" <= letter <= "z" or "A" <= letter <= "Z"):
            position = offset + term.index(letter)
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {position} in the equation string, subscripts "
                "must be in [a-zA-Z]"
            )


def _sizes(inputs: Sequence[str], shapes: Sequence[Sequence[int]]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for operand, (names, shape) in enumerate(zip(inputs, shapes)):
        own: dict[str, int] = {}

        for name, size in zip(names, shape):
            if own.setdefault(name, size) != size:
                raise RuntimeError(
                    f"einsum(): subscript {name} is repeated for operand {operand} but the sizes don't "
                    f"match, {size} != {own[name]}"
                )

            known = sizes.get(name, 1)
            if known != 1 and size not in (1, known):
                raise RuntimeError(
                    f"einsum(): subscript {name} has size {size} for operand {operand} which does not "
                    f"broadcast with previously seen size {known}"
                )
            sizes[name] = size if known == 1 else known

    return sizes


# The plan


@dataclass(frozen=True)
class _Plan:
    preparations: list[Callable[[Any], Any]]
    pairs: list[
        tuple[int, int, Callable[[Any, Any], Any]]
    ]  # places of two tensors; the result takes the next place
    order: list[int] | None  # of the output's dimensions in the last result


@functools.lru_cache(maxsize=1024)
def _plan(equation: str, shapes: tuple[tuple[int, ...], ...], choose: bool) -> _Plan:
    if not shapes:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand "
            "and its subscripts list"
        )

    inputs, output = _parse(equation, [len(shape) for shape in shapes])
    sizes = _sizes(inputs, shapes)
    broadcast = [
        {name for name, size in zip(own, shape) if size != sizes[name]} for own, shape in zip(inputs, shapes)
    ]
    present = [set(own) - dropped for own, dropped in zip(inputs, broadcast)]

    names: list[str] = []
    preparations = []
    for index, own in enumerate(inputs):
        needed = set(output).union(*(other for place, other in enumerate(present) if place != index))
        prepare, left = _preparation(own, broadcast[index], needed)
        preparations.append(prepare)
        names.append(left)

    pairs = []
    remaining = set(range(len(names)))
    for first, second in _order(names, output, sizes) if choose else _from_left_to_right(len(names)):
        remaining -= {first, second}
        kept = set(output).union(*(names[place] for place in remaining))
        pair, result = _pair(names[first], names[second], kept, sizes)
        remaining.add(len(names))
        names.append(result)
        pairs.append((first, second, pair))

    order = [names[-1].index(name) for name in output]
    return _Plan(preparations, pairs, None if order == list(range(len(order))) else order)


def _preparation(names: str, broadcast: set[str], needed: set[str]) -> tuple[Callable[[Any], Any], str]:
    """Diagonals of repeated names; dimensions of size 1 that broadcast
    are dropped; what nobody else has is summed."""
    diagonals = []
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            diagonals.append((first, second))
            names = (
                "".join(letter for place, letter in enumerate(names) if place not in (first, second)) + name
            )
    squeezed = [place for place, name in enumerate(names) if name in broadcast]
    names = "".join(name for place, name in enumerate(names) if place not in squeezed)
    summed = [place for place, name in enumerate(names) if name not in needed]
    names = "".join(name for name in names if name in needed)

    def prepare(tensor: Any) -> Any:
        for first, second in diagonals:
            tensor = tensor.diagonal(0, first, second)  # the diagonal becomes the last dimension
        if squeezed:
            tensor = tensor.squeeze(squeezed)
        return tensor.sum(summed) if summed else tensor

    return prepare, names


def _product(names: Sequence[str] | set[str], sizes: dict[str, int]) -> int:
    result = 1
    for name in names:
        result *= sizes[name]
    return result


def _pair(a: str, b: str, kept: set[str], sizes: dict[str, int]) -> tuple[Callable[[Any, Any], Any], str]:
    """The product of two operands as one (batched) product of
    matrices, or elementwise where nothing is summed."""
    batch = "".join(name for name in a if name in b and name in kept)
    inner = "".join(name for name in a if name in b and name not in kept)
    rows = "".join(name for name in a if name not in b)
    columns = "".join(name for name in b if name not in a)
    result = batch + rows + columns

    if not inner:
        first = _rearranged(a, batch + rows, [*(sizes[name] for name in batch + rows), *(1 for _ in columns)])
        second = _rearranged(
            b, batch + columns, [*(sizes[n] for n in batch), *(1 for _ in rows), *(sizes[n] for n in columns)]
        )
        return lambda x, y: first(x) * second(y), result

    extents = [_product(group, sizes) for group in (batch, rows, inner, columns)]
    count = extents[:1] if batch else []
    first = _rearranged(a, batch + rows + inner, [*count, extents[1], extents[2]])
    second = _rearranged(b, batch + inner + columns, [*count, extents[2], extents[3]])
    shape = [sizes[name] for name in result]
    name = "bmm" if batch else "mm"
    return lambda x, y: getattr(first(x), name)(second(y)).reshape(shape), result


def _rearranged(names: str, wanted: str, shape: list[int]) -> Callable[[Any], Any]:
    order = [names.index(name) for name in wanted]
    if order == sorted(order):
        return lambda tensor: tensor.reshape(shape)
    return lambda tensor: tensor.permute(order).reshape(shape)


# The order


def _order(names: Sequence[str], output: str, sizes: dict[str, int]) -> Iterator[tuple[int, int]]:
    if len(names) <= 2:
        return iter([(0, 1)] if len(names) == 2 else [])
    return iter(
        _cheapest_order(names, output, sizes)
        if len(names) <= _EXHAUSTIVE
        else _greedy_order(names, output, sizes)
    )


def _from_left_to_right(count: int) -> Iterator[tuple[int, int]]:
    return ((0, 1) if index == 0 else (index + 1, count + index - 1) for index in range(count - 1))


def _cheapest_order(names: Sequence[str], output: str, sizes: dict[str, int]) -> list[tuple[int, int]]:
    """By dynamic programming over subsets of operands, given as bits."""
    everyone = (1 << len(names)) - 1
    members = [
        set().union(*(names[place] for place in range(len(names)) if subset >> place & 1))
        for subset in range(everyone + 1)
    ]
    left = [members[subset] & (set(output) | members[everyone ^ subset]) for subset in range(everyone + 1)]
    best: dict[int, tuple[float, int]] = {1 << place: (0.0, 0) for place in range(len(names))}
    for subset in sorted(range(1, everyone + 1), key=int.bit_count):
        if subset in best:
            continue
        choices = []
        part = (subset - 1) & subset
        while part > subset ^ part:  # each division into two once
            rest = subset ^ part
            choices.append((best[part][0] + best[rest][0] + _product(left[part] | left[rest], sizes), part))
            part = (part - 1) & subset
        best[subset] = min(choices)
    found: list[tuple[int, int]] = []

    def visit(subset: int) -> int:
        """The place of the product of a subset."""
        part = best[subset][1]
        if part == 0:
            return subset.bit_length() - 1
        places = visit(subset ^ part), visit(part)
        found.append((min(places), max(places)))
        return len(names) + len(found) - 1

    visit(everyone)
    return found


def _greedy_order(names: Sequence[str], output: str, sizes: dict[str, int]) -> list[tuple[int, int]]:
    """Again and again the pair whose product grows least beyond its factors."""
    present = dict(enumerate(names))
    found = []
    while len(present) > 1:
        places = list(present)
        candidates = [(first, second) for index, first in enumerate(places) for second in places[index + 1 :]]

        def kept(pair: tuple[int, int]) -> set[str]:
            others = set(output).union(*(own for place, own in present.items() if place not in pair))
            return (set(present[pair[0]]) | set(present[pair[1]])) & others

        def growth(pair: tuple[int, int]) -> tuple[int, tuple[int, int]]:
            return _product(kept(pair), sizes) - sum(_product(present[place], sizes) for place in pair), pair

        chosen = min(candidates, key=growth)
        result = "".join(sorted(kept(chosen)))
        found.append(chosen)
        for place in chosen:
            del present[place]
        present[len(names) + len(found) - 1] = result
    return found
