"""`python -m codegen new-package`: the project that it writes, and names that it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.cli.main import main


def test_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "project"
    schema = "bump(Tensor self, int times, float scale=1.0) -> Tensor"
    arguments = ["new-package", "bump_ops", "--to", str(folder), "--operator", schema]
    assert main([*arguments, "--expr", "scale * self * times"]) == 0

    written = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert written == {
        ".github/workflows/tests.yml",
        ".gitignore",
        "MANIFEST.in",
        "README.md",
        "pyproject.toml",
        "setup.py",
        "src/bump_ops/__init__.py",
        "src/bump_ops/aten/native/cpu/.gitkeep",
        "src/bump_ops/operators.yaml",
        "src/bump_ops/py.typed",
        "src/bump_ops/samples.py",
        "tests/test_operators.py",
    }
    assert "SampleInput(tensor, 2)" in (folder / "src/bump_ops/samples.py").read_text()
    assert "bump_ops.bump(x, 2)" in (folder / "README.md").read_text()
    for path in folder.rglob("*.py"):
        compile(path.read_text(), str(path), "exec")

    assert f" --no-build-isolation '{folder}[test]' && cd {folder} && " in capsys.readouterr().out
    assert main(["check", "--yaml", str(folder / "src/bump_ops/operators.yaml")]) == 0
    assert "no problems" in capsys.readouterr().out


def test_next_command_names_a_folder_and_not_a_package_of_an_index(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new-package", "bump_ops"]) == 0
    assert "'./bump_ops[test]'" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["2ops"], "'2ops' is not a name of a Python package"),
        (["class"], "'class' is not a name of a Python package"),
        (["json"], "would hide the module of that name"),
        (["torch_py"], "would hide the module of that name"),
        (["ops", "--expr", "self"], "pass --operator and --expr together"),
        (["ops", "--operator", "f(Tensor x", "--expr", "x"], "^"),
        (["ops", "--operator", "f(Tensor[] x) -> Tensor", "--expr", "x"], "takes a tensor and numbers"),
        (["ops", "--operator", "f() -> Tensor", "--expr", "1"], "takes a tensor and numbers"),
    ],
)
def test_refusals(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-package", *arguments, "--to", str(tmp_path / "project")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "project").exists()


def test_folder_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["new-package", "ops", "--to", str(tmp_path)]) == 1
    assert "is not empty; pass another folder" in capsys.readouterr().err
