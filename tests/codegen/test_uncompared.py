"""``check`` names the operators whose values no test compares with anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.targets.torch_py.cli import uncompared

_ENTRY = """\
    - func: {name}(Tensor self) -> Tensor
      structure: pointwise
      dtypes: floating
      dispatch:
        CPU: cube_kernel
      non_differentiable: a test
      samples: unary_float
      doc: A kernel.
"""


def checked(folder: Path, head: str, entry: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What ``check`` remarks."""
    (folder / "aten/native/cpu").mkdir(parents=True)
    kernel = "namespace at::native {\nvoid cube_kernel(TensorIteratorBase& iter) {}\n}\n"
    (folder / "aten/native/cpu/T.cpp").write_text(kernel)
    samples = '@samples("unary_float")\ndef unary_float(make): ...\n'
    (folder / "tests/ops/samples").mkdir(parents=True)
    (folder / "tests/ops/samples/t.py").write_text(samples)
    sets = "dtype_sets:\n  floats: [float32, float64]\n\n"
    entry = entry.replace("floating", "floats")
    (folder / "ops.yaml").write_text(f"{head}{sets}topics:\n  T:\n{entry}")
    arguments = ["check", "--yaml", str(folder / "ops.yaml")]
    assert main(arguments) == 0, capsys.readouterr().err
    return [line for line in capsys.readouterr().out.splitlines() if "no problems" not in line]


@pytest.mark.parametrize("head", ["", "library: my_ops\n\n"])
def test_kernels_without_a_reference(head: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if not head and uncompared.peer_names() is None:
        pytest.skip("PyTorch is not installed")
    found = checked(tmp_path, head, _ENTRY.format(name="wobble"), capsys)
    line = 7 if not head else 9
    assert found == [
        f"ops.yaml:{line - 1}:13: wobble: its entry has nothing to compare values with; "
        "write reference: and what it computes, in NumPy or SciPy, or references in the class of tests"
    ]


@pytest.mark.parametrize("line", ["reference: self ** 3", "samples: skip_private"])
def test_nothing_is_said(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = _ENTRY.format(name="wobble")
    entry = entry.replace("samples: unary_float", line) if "samples" in line else f"{entry}      {line}\n"
    assert checked(tmp_path, "library: my_ops\n\n", entry, capsys) == []


def test_operators_that_pytorch_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert checked(tmp_path, "", _ENTRY.format(name="erfc"), capsys) == []


def test_nobody_knows_without_pytorch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncompared, "peer_names", lambda: None)
    assert checked(tmp_path, "", _ENTRY.format(name="wobble"), capsys) == []


def test_the_files_of_this_repository(capsys: pytest.CaptureFixture[str]) -> None:
    package = "examples/operators_kernels/src/power_ops/operators.yaml"
    for arguments in (["check"], ["check", "--yaml", package]):
        assert main(arguments) == 0, capsys.readouterr().err
        assert "compares" not in capsys.readouterr().out
