"""The code of tutorials does what they say.

A block with a title is a file; commands run in the folder of these files, then all Python, which must print
the blocks of text.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.python_process import REPOSITORY

FOLDER = REPOSITORY / "docs" / "tutorials"
BLOCK = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)
# Without a network; what is installed goes to a folder of the test.
PIP = ("-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", "site")


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    text: str


def blocks(name: str) -> Iterator[Block]:
    text = (FOLDER / f"{name}.md").read_text()
    yield from (Block(m["language"], m["title"], m["text"]) for m in BLOCK.finditer(text))


def run(arguments: list[str], folder: Path) -> str:
    paths = os.pathsep.join([str(folder / "site"), str(REPOSITORY)])
    environment = {**os.environ, "PYTHONPATH": paths, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    result = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-3000:]
    return result.stdout


def run_command(line: str, folder: Path) -> None:
    program, *words = shlex.split(line)
    if program == "pip":
        assert words[0] == "install"
        words = [*PIP, *words[1:]]
    else:
        assert program == "python", line
    if words[:2] == ["-m", "codegen"] and "new-package" not in words:
        words += ["--yaml", str(REPOSITORY / "native_functions.yaml")]
    run(words, folder)


def check(name: str, folder: Path) -> None:
    found = list(blocks(name))
    for block in found:
        if block.title is not None:
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)

    for block in found:
        if block.language == "sh":
            for line in block.text.splitlines():
                run_command(line, folder)

    script = "\n".join(b.text for b in found if b.language == "python" and b.title is None)
    expected = "".join(b.text for b in found if b.language == "text")
    assert (run(["-c", script], folder) if script else "") == expected


@pytest.mark.parametrize("name", ["train", "structure"])
def test_tutorial(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["formula", "kernel", "package", "backend"])
def test_tutorial_that_compiles(name: str, tmp_path: Path) -> None:
    check(name, tmp_path)


def test_every_tutorial_is_tested() -> None:
    tested = {"train", "structure", "formula", "kernel", "package", "backend"}
    assert {path.stem for path in FOLDER.glob("*.md")} == tested
