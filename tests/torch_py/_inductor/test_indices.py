"""Positions: what simplifies to what, and that nothing changes its value."""

from __future__ import annotations

import itertools
import random

import pytest

import torch_py as torch
from tests.subject import only_torch_py
from torch_py._inductor.indices import Axis, Linear, contiguous, flattened, linear, unflattened

pytestmark = only_torch_py

I = Axis("i", 4)
J = Axis("j", 8)
K = Axis("k", 3)


def value(position: Linear, places: dict[Axis, int]) -> int:
    """A position as a number."""
    total = position.constant
    for atom, factor in position.terms.items():
        if isinstance(atom, Axis):
            number = places[atom]
        else:
            inner = value(atom.value, places)
            assert inner >= 0, "C++ rounds quotients of negative numbers in another way"
            number = inner // atom.divisor if atom.sign == "//" else inner % atom.divisor
        total += factor * number
    return total


@pytest.mark.parametrize(
    "found, expected",
    [
        ((linear(I) * 8 + linear(J)) // 8, "i"),
        ((linear(I) * 8 + linear(J)) % 8, "j"),
        ((linear(I) * 24 + linear(J) * 3 + linear(K)) // 48, "(i) // 2"),
        ((linear(I) * 24 + linear(J) * 3 + linear(K)) % 48, "24 * (i) % 2 + 3 * j + k"),
        ((linear(J) // 4) * 4 + linear(J) % 4, "j"),
        ((linear(J) // 4) * 4 + ((linear(J) // 2) % 2) * 2 + linear(J) % 2, "j"),
        (linear(7) - linear(J), "-j + 7"),
    ],
)
def test_simplified(found: Linear, expected: str) -> None:
    assert str(found) == expected


def test_reshapes_there_and_back_are_nothing() -> None:
    sizes = [(4, 8, 3), (12, 8), (2, 48), (96,), (4, 24)]
    for first, second in itertools.permutations(sizes, 2):
        axes = [linear(Axis(f"a{n}", size)) for n, size in enumerate(first)]
        there = unflattened(flattened(axes, contiguous(first)), second)
        back = unflattened(flattened(there, contiguous(second)), first)
        assert list(back) == axes


def test_random_positions_keep_their_value() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        position, numbers = _random(draw, 4)
        for places, expected in numbers:
            assert value(position, places) == expected, position


def _random(draw: random.Random, depth: int) -> tuple[Linear, list[tuple[dict[Axis, int], int]]]:
    """A random position, and its values for some places, computed one by one."""
    places = [{axis: draw.randrange(axis.size) for axis in (I, J, K)} for _ in range(6)]
    position = linear(draw.choice((I, J, K)))
    numbers = [p[next(position.axes())] for p in places]
    for _ in range(draw.randrange(1, 2 * depth)):
        kind = draw.choice(("add", "times", "//", "%", "reversed"))
        number = draw.randrange(1, 13)

        if kind == "add":
            axis = draw.choice((I, J, K))
            position = position + linear(axis) * number
            numbers = [n + p[axis] * number for n, p in zip(numbers, places)]
        elif kind == "times":
            position = position * number
            numbers = [n * number for n in numbers]
        elif kind == "reversed":  # as `flip` does, and then perhaps `roll`
            last = position.range[1] + number
            position = linear(last) - position
            numbers = [last - n for n in numbers]
        elif kind == "//":
            position = position // number
            numbers = [n // number for n in numbers]
        else:
            position = position % number
            numbers = [n % number for n in numbers]

    return position, list(zip(places, numbers))


def test_rolls_that_are_turned_around() -> None:
    for function in (lambda x: x.roll(3, 0).flip(0) * 2, lambda x: x.flip(0).roll((2, 1), (0, 1)) * x):
        for shape in ((6, 1), (13, 5)):
            x = torch.randn(shape, requires_grad=True)
            outcomes = []
            for called in (function, torch.compile(function)):
                result = called(x)
                outcomes.append((result, *torch.autograd.grad((result * result).sum(), x)))
            torch.testing.assert_close(*outcomes)
