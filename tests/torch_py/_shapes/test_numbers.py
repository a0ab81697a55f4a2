"""Sizes that vary within one run: arithmetic on stand-ins, decisions by hints."""

import itertools
import math
import operator

import pytest

import torch_py as torch
from torch_py._shapes.formulas import Relation
from torch_py._shapes.numbers import SymInt, combined
from torch_py._shapes.sizes import Sizes, TooManySizes
from torch_py._shapes.stand_ins import RECORDINGS, Range


def relations(sizes):
    return list(map(str, sizes.relations))


def test_arithmetic_keeps_the_formula():
    sizes = Sizes()
    batch, length = sizes.new(8), sizes.new(12)
    assert str((batch * length + 1).term) == "s0*s1 + 1"
    assert str((2 * batch - length // 2).term) == "2*s0 - (s1//2)"
    assert (2 * batch - length // 2).hint == 10
    assert (batch * length).hint == 96 and (batch**2).hint == 64 and (-batch).hint == -8
    assert (3 - batch).hint == -5
    assert sizes.relations == {}


def test_what_cancels_out_is_a_number():
    sizes = Sizes()
    batch = sizes.new(8)
    assert type(batch + 3 - batch) is int and batch + 3 - batch == 3
    assert relations(sizes) == ["(s0 + 3) - s0 == 3"]
    assert (batch + 0).term is batch.term and (batch * 1).term is batch.term


def test_numbers_too_small_to_be_followed_are_fixed():
    sizes = Sizes()
    length = sizes.new(130)
    assert length // 64 == 2 and type(length // 64) is int
    assert relations(sizes) == ["s0//64 == 2"]
    assert isinstance(length // 2, SymInt)


def test_decisions_are_by_hints_and_are_kept():
    sizes = Sizes()
    batch = sizes.new(8)
    assert batch > 4 and not batch == 9 and batch
    assert relations(sizes) == ["s0 > 4", "s0 != 9", "s0 != 0"]
    (symbol,) = sizes.hints
    assert [r.holds({symbol: 5}) for r in sizes.relations] == [True, True, True]
    assert [r.holds({symbol: 3}) for r in sizes.relations] == [False, True, True]


def test_numbers_that_are_no_sizes_fix_what_they_come_from():
    arithmetic = (lambda n: n % 3, lambda n: n / 2 // 1, lambda n: 100 // n, lambda n: pow(n, 2, 5))
    for use in (str, float, hash, math.sqrt, *arithmetic):
        sizes = Sizes()
        batch = sizes.new(8)
        assert use(batch) == use(8)
        assert relations(sizes) == ["s0 == 8"] and list(sizes.fixed.values()) == [8]


def test_decisions_about_real_numbers():
    sizes = Sizes()
    batch = sizes.new(8)
    assert batch / 16 < 0.75 and (batch * 0.5) ** 2 - 15 and combined(operator.pow, 0.9, batch) != 0.5
    squared = "(float(s0)*0.5)**2"
    found = [
        "s0/16 < 0.75",
        f"{squared} <= inf",
        f"({squared}) - 15 != 0",
        "0.9**s0 <= inf",
        "0.9**s0 != 0.5",
    ]
    assert relations(sizes) == found
    assert not sizes.fixed and str(combined(operator.pow, -0.9, batch).term) == "(-0.9)**s0"


def test_equal_sizes_are_one():
    sizes = Sizes()
    assert sizes.new(8).term is sizes.new(8).term
    assert sizes.new(8) == sizes.new(8) and sizes.relations == {}


def test_operators_compute_with_stand_ins():
    sizes = Sizes()
    batch, length = sizes.new(8), sizes.new(12)
    x = torch.empty(batch, length, 50257, device="meta")
    merged = x.view(batch * length, -1)
    assert str(sizes.wrap(merged.shape[0]).term) == "s0*s1"
    assert sizes.wrap(merged.shape[1]) == 50257
    joined = torch.cat([x, x, x[:, :2]], 1)
    assert str(sizes.wrap(joined.shape[1]).term) == "2*s1 + 2"
    assert sizes.wrap(joined.shape[1]).hint == 26
    assert sizes.wrap(x.numel()).hint == 8 * 12 * 50257


def test_there_are_limits():
    sizes = Sizes()
    with pytest.raises(TooManySizes):
        for size in range(2, 100):
            sizes.new(size)
    relation = Relation("<=", 1, 2)
    assert str(relation) == "1 <= 2" and relation.holds({})


def test_recordings_have_any_two_sizes_in_both_orders():
    sizes = Sizes()
    rows, columns, count = (sizes.new(hint).term for hint in (8, 5, 7))
    pairs = list(itertools.permutations((rows, columns, count), 2))
    recorded = sizes.settled()
    assert len(recorded) == RECORDINGS and recorded[0] == sizes.stand_ins
    assert all(any(row[one] < row[other] for row in recorded) for one, other in pairs)
    assert all(any(2 * row[symbol] > sum(row.values()) for row in recorded) for symbol in sizes.hints)


def test_numbers_of_a_range_have_no_order():
    sizes = Sizes()
    number = sizes.new(3, Range(0, 20, is_guarded=False, share=1), is_number=True)
    recorded = sizes.settled()
    assert len(recorded) == RECORDINGS and all(row[number.term] <= 20 for row in recorded)


def test_decisions_about_the_order_of_sizes_hold_in_recordings():
    sizes = Sizes()
    rows, columns, count = (sizes.new(hint) for hint in (8, 5, 7))
    assert columns < rows and rows < 100 and rows != columns + count
    recorded = sizes.settled()
    assert all(row[columns.term] < row[rows.term] for row in recorded)
    for one in (rows, columns):
        assert {row[one.term] < row[count.term] for row in recorded} == {True, False}
    assert columns < count and count < rows
    assert all(row[columns.term] < row[count.term] < row[rows.term] for row in sizes.settled())
