"""Paragraphs: breaks in long functions, a statement per value, one anonymous namespace per file."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding
from .tree import CPP, PYTHON, ROOT, files

LONG_FUNCTION = 15  # lines of the body
CPP_WIDTH = 100  # clang-format leaves comments and macros that it cannot break; ruff sees to Python

ADVICE = (
    "put a blank line where one step ends and the next begins, or head a step with a comment that says why"
)
# The line that opens a C++ function ends its parameter list and its signature with a brace.
NOT_A_FUNCTION = (
    r"namespace|class|struct|enum|union|extern|using|if|for|while|switch|else|do|try|catch|return|case|#|//"
)
OPENS_FUNCTION = re.compile(rf"^\s*(?!(?:{NOT_A_FUNCTION})\b|#|//)\S.*\)[\w\s&:>-]*\{{$")
OPENS_ANONYMOUS = re.compile(r"^\s*(?:inline\s+)?namespace\s*\{")


def check(root: Path = ROOT) -> Iterator[Finding]:
    for path in files(CPP, root):
        yield from check_cpp(path, (root / path).read_text(errors="replace"))
    for path in files(PYTHON, root):
        yield from check_python(path, (root / path).read_text(errors="replace"))


# ------------------------------------------------------------
# C++


def check_cpp(path: str, text: str) -> Iterator[Finding]:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > CPP_WIDTH:
            yield Finding(path, number, f"{len(line)} columns, at most {CPP_WIDTH}; name a part of the line")

    anonymous = [number for number, line in enumerate(lines, 1) if OPENS_ANONYMOUS.match(line)]
    for number in anonymous[1:]:
        first = anonymous[0]
        yield Finding(
            path, number, f"a second anonymous namespace; move its helpers to the one in line {first}"
        )

    for number, body in cpp_functions(lines):
        if len(body) >= LONG_FUNCTION and not has_break(body, "//"):
            yield Finding(path, number, f"{len(body)} lines without a paragraph; {ADVICE}")


def cpp_functions(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The line number and the body of each function, found by indentation: clang-format has set it."""
    for start, line in enumerate(lines):
        if not OPENS_FUNCTION.match(line):
            continue

        indentation = _signature_indentation(lines, start)
        closing = indentation + "}"
        end = start + 1
        while end < len(lines) and not lines[end].startswith(closing):
            end += 1
        yield start + 1, lines[start + 1 : end]


def _signature_indentation(lines: list[str], start: int) -> str:
    """That of the line on which the signature begins: a wrapped parameter list is indented further."""
    depth = 0
    for number in range(start, -1, -1):
        depth += lines[number].count(")") - lines[number].count("(")
        if depth <= 0:
            first = lines[number]
            return first[: len(first) - len(first.lstrip())]
    return ""


# ------------------------------------------------------------
# Python


def check_python(path: str, text: str) -> Iterator[Finding]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return  # layering reports it

    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = python_body(node, lines)
            if count_statements(node) > 2 and len(body) >= LONG_FUNCTION and not has_break(body, "#"):
                message = f"{node.name}: {len(body)} lines without a paragraph; {ADVICE}"
                yield Finding(path, node.lineno, message)
        elif isinstance(node, ast.Assign) and assigns_unrelated(node):
            yield Finding(path, node.lineno, "several unrelated values in one assignment; give each a line")


def count_statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Nested ones included, without a docstring: one long expression needs no paragraphs."""
    inside = sum(isinstance(node, ast.stmt) for node in ast.walk(function)) - 1
    return inside - (ast.get_docstring(function, clean=False) is not None)


def python_body(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> list[str]:
    """The lines below the docstring, with a comment that heads them."""
    statements = function.body[1:] if ast.get_docstring(function, clean=False) else function.body
    if not statements:
        return []

    start = statements[0].lineno - 1
    while lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return lines[start : function.end_lineno]


def assigns_unrelated(node: ast.Assign) -> bool:
    """True for `self.a, self.b = a, b` and longer rows.

    A pair of local names and simultaneous updates (`a, b = b, a`) are fine.
    """
    (target, *more), value = node.targets, node.value
    if more or not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return False

    assigned = {ast.unparse(element) for element in target.elts}
    read = {ast.unparse(part) for part in ast.walk(value) if isinstance(part, ast.Name | ast.Attribute)}
    if assigned & read:
        return False

    return len(target.elts) > 2 or any(isinstance(element, ast.Attribute) for element in target.elts)


def has_break(body: list[str], comment: str) -> bool:
    return any(not line.strip() or line.lstrip().startswith(comment) for line in body)
