"""What no file may hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding
from .tree import CPP, NOT_SOURCES, PYTHON, ROOT, files

TEXT_SUFFIXES = tuple(".py .pyi .cpp .h .cu .cuh .yaml .md .toml .jinja .jinja2 .j2 Makefile .ci/run".split())
HOME_PATH = re.compile(r"(?<![\w.])/(?:home|Users|root)/\w+")
CONFLICT = re.compile(r"^(<{7}|>{7}) ")
TRAILING = re.compile(r"[ \t]+$")
BUILD_OUTPUT = re.compile(r"(^build/|^torch_py/_generated/|\.(so|o|a|pyc)$)")
LONGEST_FILE = 800


def check(root: Path = ROOT) -> Iterator[Finding]:
    for path in files((), root):
        if BUILD_OUTPUT.search(path):
            yield Finding(path, 0, f"output of a command; git rm --cached {path} and add it to .gitignore")
        elif path.endswith(TEXT_SUFFIXES):
            yield from check_text(path, (root / path).read_text(errors="replace"))


def check_text(path: str, text: str) -> Iterator[Finding]:
    lines = text.splitlines()

    for number, line in enumerate(lines, 1):
        if TRAILING.search(line) and not path.startswith("tests/golden/"):
            yield Finding(path, number, "blanks at the end of the line; make format")
        if CONFLICT.match(line):
            yield Finding(path, number, "a merge conflict; choose one side")
        home = HOME_PATH.search(line)
        if home:
            yield Finding(path, number, f"a path of one machine, {home[0]}; make it relative")

    if text and not text.endswith("\n"):
        yield Finding(path, len(lines), "no newline at the end of the file; make format")

    is_source = path.endswith((*PYTHON, *CPP)) and not path.startswith(NOT_SOURCES)
    if len(lines) > LONGEST_FILE and is_source and _lines_of_code(path, text) > LONGEST_FILE:
        yield Finding(
            path,
            0,
            f"{len(lines)} lines; a file is one idea, split it (limit {LONGEST_FILE}; tables go to .yaml or "
            ".inc)",
        )


def _lines_of_code(path: str, text: str) -> int:
    """The number of lines, without those of docstrings: documentation does not make a file two ideas."""
    count = len(text.splitlines())
    if not path.endswith(".py"):
        return count

    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node, clean=False):
            docstring = node.body[0]
            count -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return count


def fix(root: Path = ROOT) -> None:
    for path in files(TEXT_SUFFIXES, root):
        if path.startswith("tests/golden/"):
            continue
        file = root / path
        before = file.read_text()
        after = "\n".join(TRAILING.sub("", line) for line in before.splitlines()) + ("\n" if before else "")
        if after != before:
            file.write_text(after)
