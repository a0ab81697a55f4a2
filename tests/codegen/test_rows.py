"""What is generated from formulas over rows: kernels, private operators of gradients, facts and lowerings."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.target import joined
from codegen.targets.torch_py.emit import lowerings

TABLES = ("POINTWISE", "ROWS", "READS")
REPOSITORY = Path(__file__).resolve().parents[2]
YAML = """\
library: row_ops

topics:
  Rows:
    - func: smooth_maximum(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
      structure: reduction
      dtypes: floating
      expr: log(sum(exp(self - amax(self)))) + amax(self)
      doc: The largest element over ``dim``, smoothed.

    - func: squares(Tensor self, int dim, bool keepdim=False) -> Tensor
      variants: function, method, out
      structure: reduction
      dtypes: floating, int64
      expr: mean(self * self)
      doc: The mean of the squares.

    - func: shares(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
      structure: shaped
      dtypes: floating
      expr: exp(self - amax(self)) / sum(exp(self - amax(self)))
      doc: As softmax.

    - func: is_largest(Tensor self, int dim) -> Tensor
      structure: shaped
      dtypes: floating
      expr: self == amax(self)
      doc: Whether elements are the largest of their row.

    - func: is_filled(Tensor self, int dim, bool keepdim=False) -> Tensor
      structure: reduction
      dtypes: floating
      expr: all(self)
      doc: Whether no element is zero.

    - func: magnitude(Tensor self, int[1] dim, bool keepdim=False) -> Tensor
      structure: reduction
      dtypes: floating, complex
      expr: sqrt(sum(abs(self) ** 2))
      doc: The length of vectors.

    - func: phases(Tensor self, int dim, *, float least=0.1) -> Tensor
      structure: shaped
      dtypes: floating, complex
      expr: self / maximum(amax(abs(self)), least)
      doc: As a fraction of the largest.
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    (folder / "operators.yaml").write_text(YAML)
    assert main(["generate", "--yaml", str(folder / "operators.yaml"), "--output", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture(scope="module")
def facts(generated: Path) -> dict[str, dict[str, object]]:
    (path,) = generated.rglob("operators.json")
    return {row["name"]: row for row in json.loads(path.read_text())["operators"]}


def kernel(generated: Path, name: str) -> str:
    return (generated / f"aten/native/cpu/expr/{name}Kernel.isa.cpp").read_text()


def test_stages_of_a_reduction(generated: Path) -> None:
    text = kernel(generated, "smooth_maximum")
    assert "std::make_tuple(row_pass<0, RowMaximum>(map0)" in text and "row_pass<0, RowSum>(map1))" in text
    assert "return at::vec::log(row1) + row0;" in text
    assert "reduce_rows<scalar_t, scalar_t>(plan, stages, finish);" in text


def test_elements_are_kept(generated: Path) -> None:
    text = kernel(generated, "shares")
    assert "const auto kept0 = at::vec::exp(self - row0);" in text
    assert "return kept0 / row1;" in text


def test_numbers_are_truth_values(generated: Path) -> None:
    """-1 is true, and below the 0 of false."""
    assert "static_cast<acc_t>(self != opmath_t(0))" in kernel(generated, "is_filled")


def test_complex_numbers_with_a_real_result(generated: Path, facts: dict[str, dict[str, object]]) -> None:
    text = kernel(generated, "magnitude")
    assert facts["magnitude"]["promotion"] == "complex_to_real"
    assert "using acc_t = real_t;" in text and "using output_t = real_type<scalar_t>;" in text
    assert "at::vec::real(self * at::vec::conj(self))" in text
    assert facts["magnitude_backward"]["expr"] == "grad_output * self / output"


def test_real_values_of_complex_rows(generated: Path) -> None:
    """They are stored as all row values are, and compared as real numbers."""
    text = kernel(generated, "phases")
    assert "row_pass<0, RowReal<RowMaximum>>(map0)" in text
    assert "at::vec::maximum(at::vec::real(row0), least_value)" in text
    assert "const auto least_value = static_cast<real_t>(least);" in text


def test_gradient_without_reductions_is_pointwise(facts: dict[str, dict[str, object]]) -> None:
    helper = facts["smooth_maximum_backward"]
    assert helper["structure"] == "pointwise"
    assert helper["expr"] == "grad_output * exp(self - output)"


def test_gradient_over_rows(facts: dict[str, dict[str, object]]) -> None:
    """An operator along the same dimensions, whose own derivatives are made of operators of tensors."""
    helper = facts["shares_backward"]
    assert (helper["structure"], helper["tags"]) == ("shaped", ["along_dim"])
    assert helper["schema"] == "shares_backward(Tensor grad_output, Tensor output, int dim) -> Tensor"
    derivatives = helper["derivatives"]
    assert isinstance(derivatives, dict)
    assert derivatives["grad_output"]["formula"] == "grad * output - sum(grad * output, [dim], true) * output"


def test_gradient_of_a_reduction_is_expanded(facts: dict[str, dict[str, object]]) -> None:
    derivatives = facts["squares"]["derivatives"]
    assert isinstance(derivatives, dict)
    expected = "squares_backward(_expand_reduced(grad, self.sizes(), [dim], keepdim), self, dim)"
    assert derivatives["self"]["formula"] == expected


def test_dtypes_of_results(facts: dict[str, dict[str, object]], generated: Path) -> None:
    assert facts["squares"]["promotion"] == "int_to_float"
    assert facts["is_largest"]["non_differentiable"] == "its result is boolean"
    assert "transform_rows<scalar_t, bool, 1>" in kernel(generated, "is_largest")


def test_rows_of_lowerings(generated: Path) -> None:
    """An edit replaces those of its topic in the text of the last run."""
    (path,) = generated.rglob("lowerings.py")
    text = path.read_text()
    rows = lowerings.rows_in(text)
    assert [len(table) for table in rows] == [len(runpy.run_path(str(path))[name]) for name in TABLES]
    assert all(rows[:2])  # nothing here is in the last table
    head = text.partition("\nPOINTWISE")[0] + "\n"
    pieces = lowerings.frame("row_operators.yaml") | lowerings.pieces(0, rows)
    assert joined({**pieces, (0,): head}) == text


def test_lowerings(generated: Path) -> None:
    (path,) = generated.rglob("lowerings.py")
    tables = runpy.run_path(str(path))
    assert tables["ROWS"]["row_ops::squares"] == (
        "int_to_float",
        (("sum", "sum", ("*", "self", "self")),),
        ("/", "sum", "count"),
    )
    assert tables["ROWS"]["row_ops::shares"] == (
        "same",
        (("amax", "amax", "self"), ("exp", "kept", ("exp", ("-", "self", "amax"))), ("sum", "sum", "exp")),
        ("/", "exp", "sum"),
    )
