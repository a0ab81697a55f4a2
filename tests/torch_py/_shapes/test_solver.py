"""Formulas of sizes, found from a few recordings."""

import math

import pytest

from torch_py._shapes import solver as solving
from torch_py._shapes.formulas import Formula, Symbol, evaluate
from torch_py._shapes.solver import Ambiguous, Solver

N, T = Symbol("n"), Symbol("t")
SIZES = {N: (4, 7, 11, 18, 6), T: (9, 5, 13, 6, 10)}
RECORDINGS = [{N: n, T: t} for n, t in zip(*SIZES.values())]


@pytest.mark.parametrize(
    "formula",
    [
        lambda n, t: n,
        lambda n, t: 3 * n * t,
        lambda n, t: n * n - 5,
        lambda n, t: n + 2 * t + 1,
        lambda n, t: (n + 1) // 2,
        lambda n, t: 2 * (t // 2) + 1,
        lambda n, t: float(n * t),
        lambda n, t: 1 / t,
        lambda n, t: math.sqrt(n),
        lambda n, t: 1 / math.sqrt(t),
        lambda n, t: n * t / (n * t - 1),
    ],
)
def test_numbers_are_explained(formula):
    values = tuple(map(formula, *SIZES.values()))
    found = Solver(RECORDINGS).solve(values)
    for n in range(2, 40):
        for t in range(2, 40):
            assert evaluate(found, {N: n, T: t}) == pytest.approx(formula(n, t), rel=1e-15)


def test_other_numbers_are_not_explained():
    assert Solver(RECORDINGS).solve((1, 2, 4, 3, 9)) is None
    assert Solver(RECORDINGS).solve((0.1, 0.7, 0.3, 0.9, 0.2)) is None


def test_sizes_at_hand_explain_numbers_of_no_formula():
    size = Symbol("size(3, 1)")
    found = Solver(RECORDINGS).solve((3, 1, 9, 4, 8), [(size, (3, 1, 9, 4, 8))])
    assert found == size


def test_a_quotient_is_searched_for_once(monkeypatch):
    searched = []
    products_of = solving._products_of
    monkeypatch.setattr(solving, "_products_of", lambda given: searched.append(given) or products_of(given))
    solver = Solver(RECORDINGS)
    halves = tuple((n + 1) // 2 for n in SIZES[N])

    found = solver.solve(halves)
    count = len(searched)
    assert count > 0 and solver.solve(halves) == found
    assert len(searched) == count


def test_rounded_quotients_that_agree_ask_for_another_size():
    solver = Solver([{N: 4}, {N: 8}, {N: 12}])
    with pytest.raises(Ambiguous) as question:
        solver.solve((1, 2, 3))
    assert question.value.symbol is N and question.value.size % 4


def test_formulas_are_printed_with_brackets_where_needed():
    assert str(Formula("mul", (2, Formula("add", (N, 1))))) == "2*(n + 1)"
    assert str(Formula("floordiv", (N, Formula("mul", (2, T))))) == "n//(2*t)"


def test_integers_are_not_explained_by_equal_reals():
    solver = Solver([{N: 7}, {N: 11}, {N: 19}])
    assert str(solver.solve((6.0, 10.0, 18.0))) != str(solver.solve((6, 10, 18)))
    assert evaluate(solver.solve((6, 10, 18)), {N: 5}) == 4
    assert type(evaluate(solver.solve((6, 10, 18)), {N: 5})) is int
