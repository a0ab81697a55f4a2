"""Targets are plug-ins: the generator installs by itself, and those of the examples pass their tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.cli.main import main
from codegen.target import Target, UnknownTargetError, default_target, find_target
from tests.python_process import REPOSITORY

EXAMPLES = ("target_c_header", "target_numpy")
# What is part of the generator's folder, and not of the package that is installed.
OF_THE_CHECKOUT = "codegen.targets.torch_py"


def run(*arguments: str, site: Path, folder: Path) -> str:
    """Runs Python with what is installed in ``site``, and nothing of this checkout."""
    environment = {**os.environ, "PYTHONPATH": str(site), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [sys.executable, *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return result.stdout


def install(source: Path, site: Path, folder: Path) -> None:
    """Installs a copy of a project, without a network."""
    copy = folder / source.name
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    options = ("--no-build-isolation", "--no-deps", "--no-index", "--quiet", "--target", str(site))
    run("-m", "pip", "install", *options, str(copy), site=site, folder=folder)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generator and the targets of the examples."""
    folder = tmp_path_factory.mktemp("projects")
    found = folder / "site"
    install(REPOSITORY / "codegen", found, folder)
    for name in EXAMPLES:
        install(REPOSITORY / "examples" / name, found, folder)
    return found


def test_generator_is_small(site: Path) -> None:
    files = [path for path in (site / "codegen").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert 100_000 < sum(path.stat().st_size for path in files) < 1_000_000
    assert not (site / "codegen/targets/torch_py").exists()


def test_every_package_is_installed() -> None:
    listed = re.findall(r'^    "(codegen[\w.]*)",', (REPOSITORY / "codegen/pyproject.toml").read_text(), re.M)
    folders = {path.parent for path in (REPOSITORY / "codegen").rglob("*.py")}
    packages = {".".join(folder.relative_to(REPOSITORY).parts) for folder in folders}
    assert sorted(listed) == sorted(p for p in packages if not p.startswith(OF_THE_CHECKOUT))


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_pass_their_tests(name: str, site: Path, tmp_path: Path) -> None:
    project = tmp_path / name
    shutil.copytree(REPOSITORY / "examples" / name, project)
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", site=site, folder=project)
    assert "passed" in output


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_short(name: str) -> None:
    sources = (REPOSITORY / "examples" / name / "src").rglob("*.py")
    assert sum(len(path.read_text().splitlines()) for path in sources) <= 300


def test_targets_are_found_by_name_and_by_reference() -> None:
    assert default_target() is find_target("torch_py")
    assert find_target("codegen.targets.torch_py:TARGET").name == "torch_py"


@pytest.mark.parametrize(
    "name, message",
    [
        ("torch", "no target 'torch'; known are torch_py"),
        ("codegen.nowhere:TARGET", "no target 'codegen.nowhere:TARGET': No module named"),
        ("codegen.target:ENTRY_POINTS", "is a str, not a Target"),
    ],
)
def test_unknown_targets(name: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UnknownTargetError, match=re.escape(message)):
        find_target(name)
    assert main(["check", "--target", name]) == 1
    assert message in capsys.readouterr().err


def test_a_target_is_a_function(tmp_path: Path) -> None:
    """The least that a target is: a name, and a function from a program to files."""
    from codegen.model import load
    from codegen.output.generation import generate

    (tmp_path / "operators.yaml").write_text("topics:\n  A:\n    - func: twice(Tensor self) -> Tensor\n")
    target = Target("names", lambda program, templates: {"names.txt": "\n".join(o.name for o in program)})

    program = load(tmp_path / "operators.yaml", dialect=target.dialect)
    assert generate(program, target, tmp_path / "out").written == ("names.txt",)
    assert (tmp_path / "out/names.txt").read_text() == "twice"


def test_the_core_imports_no_target() -> None:
    """Only ``codegen/target.py`` finds targets, by their names."""
    core = [p for p in (REPOSITORY / "codegen").rglob("*.py") if "targets" not in p.parts]
    importing = [
        p.name for p in core if re.search(r"^\s*(from|import) codegen\.targets", p.read_text(), re.M)
    ]
    assert len(core) > 70 and importing == []
