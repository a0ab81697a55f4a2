"""Every command in a ```sh block of README and CONTRIBUTING works: the cheap ones are run, of `make` the targets are looked up."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = ("README.md", "CONTRIBUTING.md")
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> Iterator[str]:
    for indent, found, text in BLOCK.findall((REPOSITORY / document).read_text()):
        if found == language:
            yield "\n".join(line[len(indent) :] for line in text.splitlines())


def commands() -> list[tuple[str, str]]:
    return [(document, line) for document in DOCUMENTS for block in blocks(document, "sh") for line in block.splitlines() if line.strip()]


def run(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, **environment}
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, env=variables)


def split(command: str) -> tuple[dict[str, str], list[str]]:
    """Assignments in front, and the words."""
    words = shlex.split(command)
    count = next(index for index, word in enumerate(words) if not re.match(r"^[A-Z_]+=", word))
    return dict(word.split("=", 1) for word in words[:count]), words[count:]


@pytest.mark.parametrize("document, command", commands())
def test_command(document: str, command: str) -> None:
    environment, words = split(command)
    if words[0] == "make":
        check_make(words, environment)
    elif words[0] == "python":
        check_python(words, environment)
    else:
        pytest.fail(f"{document}: no way to check '{command}'; start it with make or python, or teach {Path(__file__).name}")


def check_make(words: list[str], environment: dict[str, str]) -> None:
    """CI runs build, test, lint and the demo; here the target has to exist, and so do the files that are named."""
    if shutil.which("make") is None:
        pytest.skip("no make")
    result = run([*words, "--dry-run"], **environment)
    assert result.returncode == 0 and result.stdout.strip(), result.stderr
    check_paths(word.split("=", 1)[1] for word in words if "=" in word)


def check_python(words: list[str], environment: dict[str, str]) -> None:
    if words[1:3] == ["-m", "pytest"]:  # tests of tests are enough: that they can be collected
        check_paths(words)
        words = [*words, "--collect-only"]
        if environment.get("TEST_WITH") == "torch":
            pytest.importorskip("torch", reason="PyTorch is not installed")
    result = run([sys.executable, *words[1:]], **environment)
    assert result.returncode == 0, f"{result.stdout[-2000:]}{result.stderr[-2000:]}"
    assert result.stdout.strip()


def check_paths(texts: Iterator[str] | list[str]) -> None:
    for text in texts:
        for word in shlex.split(text):
            if re.match(r"^(tests|aten|c10|torch_py|tools)/", word):
                assert (REPOSITORY / word).exists(), word


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_and_folders_exist(document: str) -> None:
    text = (REPOSITORY / document).read_text()
    for name in re.findall(r"\]\(([\w./-]+)\)", text) + re.findall(r"`((?:[\w.]+/)+)`", text):
        assert name in ("build/generated/",) or (REPOSITORY / name).exists(), f"{document} names {name}, which does not exist"


def test_operator_of_the_readme_is_accepted(tmp_path: Path) -> None:
    (declaration,) = blocks("README.md", "yaml")
    path = tmp_path / "softcap.yaml"
    path.write_text(declaration)
    result = run([sys.executable, "-m", "codegen", "check", "--yaml", str(path), "--library-of", "native_functions.yaml"])
    assert result.returncode == 0, result.stdout + result.stderr


def test_python_of_the_readme_compiles() -> None:
    for block in blocks("README.md", "python"):
        compile(block, "README.md", "exec")


def test_configuration_table_is_complete() -> None:
    from tools.build.configuration import VARIABLES

    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    listed = re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE)
    assert listed == [variable.name for variable in VARIABLES]


def test_readme_fits_on_a_screen() -> None:
    assert len((REPOSITORY / "README.md").read_text().splitlines()) <= 70
