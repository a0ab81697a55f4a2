"""Which formulas are computed by packs, and whether the C++ has what they call."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from codegen.expressions import parse, takes_packs
from codegen.expressions.functions import FUNCTIONS, PACKED
from codegen.expressions.packs import takes_packs_of

_HEADERS = Path(__file__).resolve().parents[2] / "aten/vec"


@pytest.mark.parametrize(
    "formula",
    [
        "self * sigmoid(self)",
        "where(self * beta > threshold, self, softplus(self * beta) / beta)",
        "where(self > 0 and self < 1, 1, 0)",
        "-maximum(self, 0.5) + 2",
        "self ** 3",
        "min_val < self ? self : min_val",
    ],
)
def test_formulas_of_packs(formula: str) -> None:
    assert takes_packs(parse(formula))


@pytest.mark.parametrize(
    "formula",
    [
        "lgamma(self)",  # not a function of packs
        "self * lgamma(other)",
        "self ** other",
        "self ** -1",
        "tanh(self) ** 2",
        "self % 2",
        "self > 0",  # a truth value
        "self * (self > 0)",
        "where(not (self > 0), self, 0)",
        "where(isnan(self), self, 0)",
    ],
)
def test_formulas_of_numbers(formula: str) -> None:
    assert not takes_packs(parse(formula))


@pytest.mark.parametrize(
    "formula, are_packs",
    [
        ("exp(real(self) - row0) / row1", True),
        ("where(self > row0, self, 0)", True),
        ("where(row0 > 0, self, row1 * self)", True),
        ("where(row0 > 0, self, 0)", False),  # a number chooses between a pack and a number
        ("where(row0 > 0 and self > 0, self, 0)", False),
    ],
)
def test_formulas_of_packs_and_row_values(formula: str, are_packs: bool) -> None:
    assert takes_packs_of(parse(formula), ["self"]) == are_packs


def test_functions_of_packs_exist() -> None:
    text = "".join((_HEADERS / name).read_text() for name in ("pack.h", "pack_functions.h"))
    defined = set(re.findall(r"^C10_ALWAYS_INLINE Pack (\w+)\(", text, re.MULTILINE))
    assert PACKED <= defined
    assert PACKED <= set(FUNCTIONS)
