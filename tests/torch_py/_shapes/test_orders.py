"""Orders of sizes: any two in both, unless one has to be smaller."""

import itertools

import pytest

from torch_py._shapes.formulas import Symbol
from torch_py._shapes.stand_ins import all_smaller, orders_of

A, B, C, D, E, F = SYMBOLS = [Symbol(name) for name in "abcdef"]


def test_sizes_that_are_not_compared_come_in_two_orders():
    assert orders_of([], {}) == [[]]
    assert orders_of([A], all_smaller([], [A])) == [[A]]
    assert orders_of([A, B], all_smaller([], [A, B])) == [[A, B], [B, A]]


@pytest.mark.parametrize(
    "pairs",
    [
        [(A, B)],
        [(B, A), (A, C)],
        [(A, C), (B, C)],
        [(C, B), (B, A), (D, A)],
        [(one, other) for one, other in itertools.product((A, B, C), (D, E, F)) if (one, other) != (B, E)],
        list(itertools.combinations(SYMBOLS, 2)),
    ],
)
def test_orders_keep_to_what_has_to_be_smaller(pairs):
    smaller = all_smaller(pairs, SYMBOLS)
    orders = orders_of(SYMBOLS, smaller)
    assert all(order.index(one) < order.index(other) for order in orders for one, other in pairs)
    for one, other in itertools.permutations(SYMBOLS, 2):
        is_seen = any(order.index(one) < order.index(other) for order in orders)
        assert is_seen is (other not in smaller[one])
    largest = {symbol for symbol in SYMBOLS if all(one != symbol for one, _ in pairs)}
    assert {order[-1] for order in orders} == largest
