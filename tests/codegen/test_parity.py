"""``parity``: the entries compared with another file of PyTorch's format."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from codegen.cli.main import main
from codegen.schema import FunctionSchema
from codegen.targets.torch_py.cli.covering import covers
from codegen.targets.torch_py.cli.parity import difference
from tests.codegen.golden import YAML

FOREIGN = """\
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method
  dispatch:
    CPU: whatever
- func: add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)
  variants: method
- func: add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)
- func: add.Scalar(Tensor self, Scalar other, *, Scalar alpha=1) -> Tensor
- func: tanh(Tensor self, int n) -> Tensor
- func: softcap(Tensor self, float cap=20.0) -> Tensor
  python_module: nn
- func: zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,\
 bool? pin_memory=None) -> Tensor
- func: nonzero(Tensor self) -> Tensor[]
- func: linalg_det(Tensor A) -> Tensor
  python_module: linalg
"""
USAGE = (
    "api,number_of_uses\ntorch.linalg.det,100\ntorch.nn.functional.softcap,50\n"
    "torch.add,20\nTensor.add_,30\ntorch.other,7\n"
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "theirs.yaml").write_text(FOREIGN)
    (tmp_path / "usage.csv").write_text(USAGE)
    return str(tmp_path / "theirs.yaml"), str(tmp_path / "usage.csv")


def test_one_line_for_each_schema(files: tuple[str, str], capsys: pytest.CaptureFixture[str]):
    assert main(["parity", files[0], "--yaml", str(YAML)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "same     add.Tensor",
        "same     add_.Tensor",
        "same     add.out",
        "same     add.Scalar",
        "differs  tanh  (n: missing)",
        "differs  softcap  (cap: default 30.0, not 20.0)",
        "same     zeros",
        "differs  nonzero  (returns (Tensor), not (Tensor[]))",
        "missing  linalg_det",
        "",
        "9 schemas: 5 same, 0 wider, 0 by hand, 3 differs, 1 missing",
    ]


def test_usage(files: tuple[str, str], capsys: pytest.CaptureFixture[str]):
    assert main(["parity", files[0], "--usage", files[1], "--yaml", str(YAML)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "      100  missing  linalg_det" and lines[1].startswith("       50  differs  softcap")
    assert lines[-2:] == [
        "200 uses: 50.0 % of operators that exist here, 25.0 % of those without a difference",
        "1 other names, used 7 times, are not operators of the file",
    ]


def test_markdown(files: tuple[str, str], capsys: pytest.CaptureFixture[str]):
    assert main(["parity", files[0], "--markdown", "--usage", files[1], "--yaml", str(YAML)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "| operator | here | uses |",
        "|---|---|---:|",
        "| `linalg_det` | missing | 100 |",
        "| `softcap` | differs: cap: default 30.0, not 20.0 | 50 |",
    ]


@pytest.mark.parametrize(
    "theirs, ours, expected",
    [
        ("f(Tensor self, int n) -> Tensor", "f(Tensor self, SymInt n) -> Tensor", None),
        ("f(Tensor self, int n) -> Tensor", "f(Tensor self, float n) -> Tensor", "n: type float, not int"),
        ("f(Tensor self, int n=Mean) -> Tensor", "f(Tensor self, int n=1) -> Tensor", None),
        ("f(Tensor self) -> Tensor", "f(Tensor self, int n=1) -> Tensor", "n: extra"),
        ("f(Tensor self, int a, int b) -> Tensor", "f(Tensor self, int b) -> Tensor", "a: missing"),
        ("f(Tensor self, int b) -> Tensor", "f(Tensor self, int a, int b) -> Tensor", "a: extra"),
        ("f(Tensor self, int n=1) -> Tensor", "f(Tensor self, int n) -> Tensor", "n: default missing, not 1"),
        (
            "f(Tensor self, *, int n=1) -> Tensor",
            "f(Tensor self, int n=1) -> Tensor",
            "n: positional, not keyword-only",
        ),
    ],
)
def test_differences(theirs: str, ours: str, expected: str | None):
    found = difference(FunctionSchema.parse(theirs), FunctionSchema.parse(ours))
    assert (None if found is None else found[1]) == expected


@pytest.mark.parametrize(
    "theirs, ours, expected",
    [
        (
            "f(Tensor self, int dim) -> Tensor",
            "f(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor",
            True,
        ),
        ("f(Tensor self, int[]? dim=None) -> Tensor", "f(Tensor self, int[1]? dim=None) -> Tensor", True),
        ("f(Tensor self, int[]? dim=None) -> Tensor", "f(Tensor self, int[1] dim) -> Tensor", False),
        ("f(Tensor self, int dim) -> Tensor", "f(Tensor self, int[] dim) -> Tensor", False),
        ("f(Tensor self) -> Tensor", "f(Tensor self, *, Generator? generator=None) -> Tensor", True),
        ("f(Tensor self) -> Tensor", "f(Tensor self, int n) -> Tensor", False),
        (
            "f(Tensor self, *, Generator? g) -> Tensor",
            "f(Tensor self, *, int n=1, Generator? g=None) -> Tensor",
            True,
        ),
        ("f(Tensor self, int n=1) -> Tensor", "f(Tensor self, int n=2) -> Tensor", False),
        ("f(Tensor self, int n=1) -> Tensor", "f(Tensor self, *, int n=1) -> Tensor", False),
        (
            "f(Tensor self, *, ScalarType? t=None) -> Tensor",
            "f(Tensor self, ScalarType? t=None) -> Tensor",
            True,
        ),
        (
            "f(Tensor self, *, Tensor(a!) max) -> Tensor(a!)",
            "f(Tensor self, *, Tensor(a!) values) -> Tensor(a!)",
            True,
        ),
        ("f(Tensor self) -> Tensor[]", "f(Tensor self, int n=1) -> Tensor", False),
    ],
)
def test_calls_that_another_schema_takes(theirs: str, ours: str, expected: bool):
    assert covers(FunctionSchema.parse(ours), FunctionSchema.parse(theirs)) is expected


def test_operators_that_a_module_writes_by_hand(
    files: tuple[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    module = ModuleType("by_hand")
    module.linalg = SimpleNamespace(det=max)
    monkeypatch.setitem(sys.modules, "by_hand", module)
    assert main(["parity", files[0], "--module", "by_hand", "--yaml", str(YAML)]) == 0
    assert "by hand  linalg_det" in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "text, message",
    [
        ("- name: f\n", "theirs.yaml:1:3: the entry has no 'func'"),
        ("- func: f(tensor x) -> Tensor\n", "theirs.yaml:1:11: unknown type 'tensor'"),
        ("a: b\n", "theirs.yaml:1:1: the file is not a list of entries"),
    ],
)
def test_files_of_another_kind(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "theirs.yaml").write_text(text)
    assert main(["parity", str(tmp_path / "theirs.yaml"), "--yaml", str(YAML)]) == 1
    assert capsys.readouterr().err.startswith(message)


def test_a_table_of_usage_with_other_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    theirs = tmp_path / "theirs.yaml"
    usage = tmp_path / "usage.csv"
    theirs.write_text(FOREIGN)
    usage.write_text("name,uses\n")

    assert main(["parity", str(theirs), "--usage", str(usage), "--yaml", str(YAML)]) == 1
    assert "write api,number_of_uses" in capsys.readouterr().err
