"""Pages of operators show the facts of their entries."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.site.building import ROOT
from tools.site.operators.catalogue import subjects_of
from tools.site.operators.curves import curves_of
from tools.site.operators.declared import Declared
from tools.site.operators.support import COLUMNS, rows_of

DECLARED = Declared(ROOT)


def page(site: Path, name: str) -> str:
    return (site / "operators" / f"{name}.html").read_text()


def works(name: str, dtype: str, column: str) -> str:
    operator = DECLARED.program.find(name)
    assert operator is not None
    (row,) = [row for row in rows_of(operator, DECLARED) if dtype in row.dtypes]
    return row.cells[COLUMNS.index(column)].works


def test_every_public_operator_has_one_page() -> None:
    subjects = subjects_of(DECLARED)
    shown = [operator.name for subject in subjects for operator in subject.overloads]
    assert sorted(shown) == sorted(operator.name for operator in DECLARED.public)
    assert len({subject.slug.lower() for subject in subjects}) == len(subjects)


def test_a_formula_is_typeset_and_drawn(site: Path) -> None:
    text = page(site, "softplus")
    assert "<h1" in text and "torch.nn.functional.softplus" in text
    assert text.count("<math") == 2  # the formula and its derivative
    assert 'class="derivative"' in text


def test_generated_code_is_shown_but_not_searched(site: Path) -> None:
    assert "TensorIterator::pointwise(&#34;softplus&#34;" in page(site, "softplus")
    index = (site / "search" / "search_index.json").read_text()
    assert "softplus" in index and "TensorIterator::pointwise(" not in index


def test_overloads_share_a_page(site: Path) -> None:
    assert re.findall(r'<h2 id="(pow\.\w+)"', page(site, "pow")) == ["pow.tensor_tensor", "pow.tensor_scalar"]


@pytest.mark.parametrize(
    "name, dtype, column, expected",
    [
        ("softplus", "float32", "backward", "yes"),
        ("add.Tensor", "int64", "backward", "no"),
        ("add.Tensor", "complex64", "compile", "partly"),
        ("linalg_qr", "float64", "CUDA", "partly"),
    ],
)
def test_support(name: str, dtype: str, column: str, expected: str) -> None:
    assert works(name, dtype, column) == expected


def test_kernels_link_to_their_lines(site: Path) -> None:
    (path, line) = re.findall(
        r'href="\.\./(source/[^"]*SumKernel\.isa\.cpp\.html)#L(\d+)"', page(site, "sum")
    )[0]
    source = (site / path).read_text()
    assert f'<span id="L{line}">void sum_kernel(' in source


def test_curves_are_the_values_of_the_operator() -> None:
    asin = DECLARED.program.find("asin")
    assert asin is not None
    curves = curves_of(asin, "asin")
    assert curves is not None
    value, slope = curves.curves
    assert max(curves.positions) == pytest.approx(1.05, abs=0.06)  # where it is real, and a little more
    middle = len(curves.positions) // 2
    assert value.values[middle] == pytest.approx(0, abs=1e-12)
    assert slope.values[middle] == pytest.approx(1)


@pytest.mark.parametrize("name", ["sum", "randn", "expand", "linalg_det"])
def test_no_curves_of_what_is_not_computed_element_by_element(name: str) -> None:
    operator = DECLARED.program.find(name)
    assert operator is not None and curves_of(operator, name) is None
