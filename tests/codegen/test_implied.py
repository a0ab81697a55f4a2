"""What entries need not write, and how ``codegen check`` reports what they write in spite of that."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.model import Program, implied, load
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.dialect import implied_module

YAML = """\
requirements:
  positive: {check: cap > 0, error: ValueError}
reasons:
  flat: zero almost everywhere
topics:
  Quiet:
    - func: capped.Twice(Tensor self, float cap) -> Tensor
      structure: composite
      requires: positive
      non_differentiable: flat
      doc: Caps.
    - func: _turned(Tensor self) -> Tensor
      structure: shaped
      non_differentiable: flat
      doc: Turns.
    - func: linalg_sides(Tensor self) -> Tensor
      variants: function, inplace
      structure: composite
      dispatch:
        Inplace: sides_in_place
      doc: Sides.
"""

SOURCES = {
    "aten/native/Quiet.cpp": """\
namespace at::native {
ANY_FUNCTION(capped_twice)
ANY_FUNCTION(turned_shape)
ANY_FUNCTION(linalg_sides)
ANY_FUNCTION(sides_in_place)
}
""",
    "aten/native/cpu/QuietKernel.cpp": """\
namespace at::native {
ANY_FUNCTION(turned_kernel)
ANY_FUNCTION(doubled_kernel)
}
""",
    "tests/ops/samples/quiet.py": "".join(
        f'@samples("{name}")\n' for name in ("capped_twice", "linalg_sides", "doubled", "skip_private")
    ),
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path, source in SOURCES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(source)
    (tmp_path / "native_functions.yaml").write_text(YAML)
    return tmp_path / "native_functions.yaml"


@pytest.fixture
def program(checkout: Path) -> Program:
    return load(checkout)


def kernels(program: Program, name: str) -> list[tuple[str, str]]:
    operator = program.find(name)
    assert operator is not None
    return [(entry.key, entry.kernel) for entry in operator.dispatch]


@pytest.mark.parametrize(
    "schema, name, module",
    [
        ("relu(Tensor self) -> Tensor", "relu", "torch"),
        ("arange.start(Scalar end) -> Tensor", "arange_start", "torch"),
        ("where.ScalarOther(Tensor self) -> Tensor", "where_scalarother", "torch"),
        ("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)", "squeeze_dim_", "torch"),
        ("__lshift__.Scalar(Tensor self) -> Tensor", "__lshift___scalar", "torch"),
        ("_to_copy(Tensor self) -> Tensor", "_to_copy", "private"),
        ("linalg_det(Tensor self) -> Tensor", "linalg_det", "linalg"),
        ("linalg(Tensor self) -> Tensor", "linalg", "torch"),
    ],
)
def test_names(schema: str, name: str, module: str) -> None:
    parsed = FunctionSchema.parse(schema)
    assert (implied.cpp_name(parsed), implied_module(parsed)) == (name, module)


def test_kernels(program: Program) -> None:
    assert kernels(program, "capped") == [("All", "capped_twice")]
    assert kernels(program, "_turned") == [("CPU", "turned_kernel")]
    assert kernels(program, "linalg_sides") == [("All", "linalg_sides"), ("Inplace", "sides_in_place")]


def test_modules_variants_shapes_and_samples(program: Program) -> None:
    capped, turned, sides = program
    assert [o.python_module for o in program] == ["torch", "private", "linalg"]
    assert capped.variants == ("function",)
    assert turned.shape == "turned_shape" and turned.shape_definition is not None
    assert [o.samples for o in program] == ["capped_twice", "skip_private", "linalg_sides"]


def test_names_of_reasons_and_requirements(program: Program) -> None:
    capped = program.find("capped")
    assert capped is not None and capped.non_differentiable == "zero almost everywhere"
    (requirement,) = capped.requires
    assert (requirement.check.text, requirement.error, requirement.name) == (
        "cap > 0",
        "ValueError",
        "positive",
    )


def test_explain_shows_the_whole_requirement(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "capped", "--yaml", str(checkout)]) == 0
    out = capsys.readouterr().out
    assert "\nrequires\n  positive: cap > 0  ValueError\n" in out
    assert "not differentiable: zero almost everywhere\n" in out
    assert "All  capped_twice  aten/native/Quiet.cpp:2\n" in out


def test_a_quiet_file_has_no_problems(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--yaml", str(checkout)]) == 0, capsys.readouterr().err


LOUD = """\
    - func: doubled(Tensor self) -> Tensor
      variants: function
      python_module: torch
      structure: pointwise
      promotion: default
      dtypes: float32
      dispatch:
        CPU: doubled_kernel
      requires:
        - {check: dim(self) > 0, error: RuntimeError}
      derivatives:
        self: non_differentiable
      autocast: none
      samples: doubled
      doc: Doubles.
    - func: _turned_again(Tensor self) -> Tensor
      python_module: private
      structure: shaped
      shape: turned_again_shape
      dispatch:
        CPU: turned_kernel
      non_differentiable: flat
      samples: skip_private
      doc: Turns.
    - func: linalg_trace(Tensor self) -> Tensor
      python_module: linalg
      structure: pointwise
      promotion: int_to_float
      dtypes: float32
      expr: exp(self)
      samples: doubled
      doc: Traces.
"""


def test_what_follows_anyway_is_reported(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkout.write_text(YAML + LOUD)
    source = checkout.parent / "aten/native/Quiet.cpp"
    source.write_text(source.read_text() + "namespace at::native {\nANY_FUNCTION(turned_again_shape)\n}\n")
    assert main(["check", "--yaml", str(checkout)]) == 1

    start = YAML.count("\n")
    rows = [
        (2, 17, "doubled", "variants: function", "it is the default"),
        (3, 22, "doubled", "python_module: torch", "the name says so"),
        (5, 18, "doubled", "promotion: default", "it is the default"),
        (8, 14, "doubled", "CPU: doubled_kernel", "the kernel is found by the operator's name"),
        (10, 41, "doubled", "error: RuntimeError", "it is the default"),
        (13, 17, "doubled", "autocast: none", "it is the default"),
        (14, 16, "doubled", "samples: doubled", "it is the operator's name"),
        (17, 22, "_turned_again", "python_module: private", "the name says so"),
        (
            19,
            14,
            "_turned_again",
            "shape: turned_again_shape",
            "the function is found by the operator's name",
        ),
        (23, 16, "_turned_again", "samples: skip_private", "private operators need none"),
        (26, 22, "linalg_trace", "python_module: linalg", "the name says so"),
        (28, 18, "linalg_trace", "promotion: int_to_float", "it follows from expr"),
    ]
    assert capsys.readouterr().err.splitlines() == [
        *(
            f"native_functions.yaml:{start + line}:{column}: {name}: '{text}' follows without being written; "
            f"leave it out: {why}"
            for line, column, name, text, why in rows
        ),
        f"{len(rows)} problems",
    ]


def test_what_follows_anyway_does_not_stop_generate(checkout: Path, tmp_path: Path) -> None:
    checkout.write_text(
        YAML + "    - func: linalg_two(Tensor self) -> Tensor\n      variants: function\n"
        "      structure: composite\n      dispatch:\n        All: linalg_sides\n"
        "      samples: doubled\n      doc: Two.\n"
    )
    assert load(checkout).find("linalg_two") is not None
    assert main(["check", "--yaml", str(checkout)]) == 1
