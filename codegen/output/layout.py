"""Breaks the long lines of generated code, once per file and after rendering, so that templates need not.

A line that fits is left alone. String literals and ``//`` comments, which hold schemas, stay whole even where
they are too long, so that a search finds them. Stubs are laid out as ruff formats them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Sequence
from functools import lru_cache

from codegen.output.line_breaker import INDENT, brackets_of, break_line

CPP_WIDTH = 100
STUB_WIDTH = 110

_CONDITION = re.compile(r" *(?:if|for) \(")
# If a line contains none of these, the brackets in it contain plain lists.
_NESTING = re.compile(r"""["'\[{?|+*]|&&""")


def wrapped(path: str, text: str) -> str:
    """The text of the generated file ``path`` with its long lines broken."""
    if path.endswith((".cpp", ".cu", ".h")):
        return _each_long_line(text, CPP_WIDTH, wrap_cpp)
    if path.endswith(".pyi"):
        return _each_long_line(text, STUB_WIDTH, wrap_stub)
    return text


def _each_long_line(text: str, width: int, wrap: Callable[[str], str]) -> str:
    lines = text.split("\n")
    return "\n".join([line if len(line) <= width else wrap(line) for line in lines])


# C++


def wrap_cpp(line: str, width: int = CPP_WIDTH) -> str:
    """One long line of C++, broken into several."""
    start = line.lstrip()
    if start.startswith("///"):
        return _wrap_words(line, width)
    if start.startswith(("//", "#")) or start.endswith("\\"):
        return line

    if _CONDITION.match(line):
        return _condition_and_statement(line, width)
    parts = _parts_of(line.translate(_LETTERS), width)
    return "\n".join([margin + line[start:end] for margin, start, end in parts])


# Where a line is broken depends on the lengths of its words alone, and many lines differ in nothing else.
_LETTERS = {ord(letter): "w" for letter in f"{string.ascii_letters}{string.digits}_"}


@lru_cache(maxsize=8192)
def _parts_of(line: str, width: int) -> tuple[tuple[str, int, int], ...]:
    """The indentation, start and end of each of the lines that ``line`` becomes."""
    broken = _fill_plain_list(line, width) or _break_assignment(line, width) or break_line(line, width)
    parts = []
    position = 0
    for part in broken.split("\n"):
        text = part.lstrip(" ")
        start = line.index(text, position)
        position = start + len(text)
        parts.append((part[: len(part) - len(text)], start, position))
    return tuple(parts)


def _wrap_words(line: str, width: int) -> str:
    """A documentation comment, broken between words."""
    prefix = line[: line.index("///") + 3]
    lines = []
    current = prefix
    for word in line[len(prefix) :].split():
        if len(current) + 1 + len(word) > width and current != prefix:
            lines.append(current)
            current = prefix
        current += f" {word}"
    return "\n".join([*lines, current])


def _condition_and_statement(line: str, width: int) -> str:
    """``if (condition) statement;``: the statement goes below the condition."""
    opening = line.index("(")
    condition = next((b for b in brackets_of(line) if b.start == opening), None)
    following = line[condition.end :].strip() if condition is not None else ""
    if condition is None or following in ("", "{"):
        return break_line(line, width)

    margin = " " * (len(line) - len(line.lstrip()) + 2)
    statement = margin + following
    parts = (line[: condition.end], statement)
    return "\n".join([part if len(part) <= width else wrap_cpp(part, width) for part in parts])


def _fill_plain_list(line: str, width: int) -> str | None:
    """Breaks a line with one list of names and types, as most are, faster than ``break_line``.

    None if the line contains more, or an item needs more than a line.
    """
    if line.count("(") != 1 or _NESTING.search(line, 0, len(line) - 1) is not None:
        return None
    head, _, rest = line.partition("(")
    inside, _, tail = rest.partition(")")
    items = inside.split(", ")
    if len(items) == 1:
        return None

    head += "("
    tail = f"){tail}"
    margin = " " * (len(head) - len(head.lstrip()) + INDENT)
    for item in items:
        if item.count("<") != item.count(">") or len(margin) + len(item) + len(tail) >= width:
            return None

    lines = []
    current = head + items[0]
    if len(current) + 1 > width:
        lines.append(head)
        current = margin + items[0]
    for item in items[1:-1]:
        if len(current) + len(item) + 3 > width:
            lines.append(f"{current},")
            current = margin + item
        else:
            current += f", {item}"

    last = items[-1] + tail
    if len(current) + len(last) + 2 > width:
        return "\n".join([*lines, f"{current},", margin + last])
    return "\n".join([*lines, f"{current}, {last}"])


def _break_assignment(line: str, width: int) -> str | None:
    """Puts the right side on a line of its own.

    None if it contains a list to break, or is too long for one line.
    """
    left, sign, right = line.partition(" = ")
    margin = " " * (len(line) - len(line.lstrip()) + INDENT)
    if not sign or "," in line or len(margin) + len(right) > width:
        return None
    return f"{left} =\n{margin}{right}"


# Python stubs


def wrap_stub(line: str, width: int = STUB_WIDTH) -> str:
    """One long line of a Python stub: ``def name(...) -> type: ...`` or ``from module import names``."""
    margin = " " * (len(line) - len(line.lstrip()))
    imported = re.fullmatch(r"(from [\w.]+ import )(.*)", line)
    if imported is not None:
        return _exploded(f"{imported[1]}(", imported[2].split(", "), ")", margin)

    parameters = next((b for b in brackets_of(line) if line[b.start] == "("), None)
    if line.lstrip().startswith("#") or parameters is None:
        return line

    head, tail = line[: parameters.start + 1], line[parameters.end - 1 :]
    inside = line[parameters.start + 1 : parameters.end - 1]
    if len(margin) + INDENT + len(inside) <= width:
        return f"{head}\n{margin}{' ' * INDENT}{inside}\n{margin}{tail}"
    items = [line[a:b].strip(" ,") for a, b in parameters.items()]
    return _exploded(head, items, tail, margin)


def _exploded(head: str, items: Sequence[str], tail: str, margin: str) -> str:
    """Puts every item on a line of its own."""
    return "\n".join([head, *(f"{margin}{' ' * INDENT}{item}," for item in items), margin + tail])
