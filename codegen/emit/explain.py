"""Where an operator appears in the generated tree."""

from __future__ import annotations

from collections.abc import Mapping

from codegen.emit.functions import functions_of
from codegen.model import Operator


def find_lines(files: Mapping[str, str], operator: Operator) -> list[tuple[str, int]]:
    """(path, line) of the first place in each file: that of its schema, or of its heading."""
    schemas = [str(f.schema) for f in functions_of(operator)]
    marks = [*(f"// {schema}" for schema in schemas), f"## `{operator.name}`", f'"name": "{operator.name}"']
    found = []
    for path, text in files.items():
        positions = [p for p in (_find(text, mark) for mark in marks) if p >= 0]
        if positions:
            found.append((path, text.count("\n", 0, min(positions)) + 1))
    return found


def _find(text: str, mark: str) -> int:
    """Of ``mark`` where its line, or its JSON value, ends behind it."""
    start = text.find(mark)
    while start >= 0:
        following = text[start + len(mark) : start + len(mark) + 1]
        if following in ("\n", ",", "}", "") or text.startswith(" {", start + len(mark)):
            return start
        start = text.find(mark, start + 1)
    return -1
