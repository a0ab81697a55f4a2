"""Formulas for numbers that depend on dynamic dimensions, found by comparing runs."""

from __future__ import annotations

import pytest

from torch_py.onnx._sizes import Formula, formula

N = (5, 8, 12, 17, 7)
M = (4, 9, 15, 6, 11)


def evaluated(found: Formula, dims: list[tuple[int, ...]], run: int) -> int:
    product = 1
    for index in found.dims:
        product *= dims[index][run]
    value = (found.numerator * product + found.offset) // found.denominator + found.added
    return value % found.modulus if found.modulus > 1 else value


@pytest.mark.parametrize(
    "function",
    [
        lambda n, m: 3 * n,
        lambda n, m: n - 1,
        lambda n, m: n * m,
        lambda n, m: 2 * n * m + 1,
        lambda n, m: n // 2,
        lambda n, m: (n + 1) // 2,
        lambda n, m: (n - 3) // 2 + 1,
        lambda n, m: n % 2,
        lambda n, m: (4 - m % 4) % 4,
        lambda n, m: m * m,
        lambda n, m: 10 - n,
    ],
    ids=range(11),
)
def test_formula_holds_for_other_sizes(function):
    found = formula([function(n, m) for n, m in zip(N, M)], [N, M])
    assert found is not None
    others = [(20, 33, 64, 101, 90), (31, 77, 40, 58, 63)]
    for run in range(5):
        assert evaluated(found, others, run) == function(others[0][run], others[1][run])


def test_numbers_without_a_formula():
    assert formula([3, 1, 4, 1, 5], [N, M]) is None
    assert formula([1, 1, 0, 0, 0], [N, M]) is None
