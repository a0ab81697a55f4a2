"""The numbers that stand for sizes in recordings."""

from itertools import combinations

import pytest

from torch_py._shapes.formulas import Relation, Symbol, evaluate
from torch_py._shapes.sizes import Sizes, TooManySizes
from torch_py._shapes.solver import Solver
from torch_py._shapes.stand_ins import PRIMES, RECORDINGS, Range, furthest, mixed_stand_ins_of, samples_in


def alone(low, high):
    return Range(low, high, is_guarded=True, share=1)


@pytest.mark.parametrize("high", [6, 9, 64, 1000])
def test_samples_are_different_numbers_of_the_range(high):
    samples = samples_in(alone(2, high))
    assert len(set(samples)) == len(samples) == min(high - 1, 12)
    assert all(2 <= number <= high for number in samples)
    assert samples_in(alone(2, 5)) == ()


def test_samples_of_one_symbol_do_not_follow_from_those_of_another():
    found = []
    for _ in range(4):
        found.append(samples_in(alone(2, 9), found))
    for first, second in combinations(found, 2):
        factors = {
            (b - second[0]) / (a - first[0]) for a, b in zip(first[1:RECORDINGS], second[1:RECORDINGS])
        }
        assert len(factors) > 1


def test_recordings_have_samples_and_primes():
    bounded, other = Symbol("n", samples=(3, 9, 5)), Symbol("m")
    rows = [mixed_stand_ins_of([bounded, other], number) for number in range(4)]
    assert [row[bounded] for row in rows] == [3, 9, 5, 3]
    assert len({row[other] for row in rows}) == 4
    assert all(row[other] > 10_000 for row in rows)


@pytest.mark.parametrize("divisor", [2, 4, 8, 16, 32])
def test_recordings_show_where_quotients_are_rounded_up(divisor):
    batch, side = Symbol("n"), Symbol("h")
    sizes = [mixed_stand_ins_of([batch, side], number)[side] for number in range(RECORDINGS)]
    found = Solver([{side: size} for size in sizes]).solve(tuple(-(-size // divisor) for size in sizes))
    assert all(evaluate(found, {side: size}) == -(-size // divisor) for size in range(2, 300))


def test_the_furthest_number():
    assert furthest(lambda n: n <= 127, 3, 2**31 - 1) == 127
    assert furthest(lambda n: n >= 15, 100, 2) == 15
    assert furthest(lambda n: True, 3, 50) == 50
    assert furthest(lambda n: n == 3, 3, 50) == 3


def test_ranges_that_several_numbers_share():
    both = Range(2, 128, is_guarded=False, share=2)
    assert both.near(10)[:2] == (6, 69)
    assert both.both(alone(4, 200)) == Range(4, 128, is_guarded=True, share=2)


def test_bounded_numbers():
    sizes = Sizes()
    number = sizes.new(5, alone(2, 100), is_number=True)
    assert not number.is_small
    assert not (number + 3).is_small
    assert number + 3 == 8
    assert Relation("<=", number.term, 100) in sizes.relations
    with pytest.raises(TooManySizes):
        sizes.new(5, alone(4, 6), is_number=True)


@pytest.mark.parametrize("divisor", [2, 3, 4, 8, 16])
def test_quotients_of_stand_ins_are_no_sizes(divisor):
    sizes = Sizes()
    for hint in range(10, 10 + len(PRIMES)):
        sizes.new(hint)
    quotients = [number // divisor for number in PRIMES if number // divisor >= 5000]
    assert [sizes.wrap(number) for number in quotients if type(sizes.wrap(number)) is not int] == []
    assert not any(map(sizes.is_explained, quotients))
