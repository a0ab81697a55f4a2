"""Brings some declarations of a stub up to date, without rendering those of all other operators."""

from __future__ import annotations

import re


def with_declarations(before: str, after: str, margin: str) -> str:
    """``before`` with the declarations of some of its functions as in ``after``, indented by ``margin``."""
    head, declarations = _split(before, margin)
    _, changed = _split(after, margin)
    return head + "".join(changed.get(name, text) for name, text in declarations.items())


def _split(text: str, margin: str) -> tuple[str, dict[str, str]]:
    """What precedes the declarations, and by name each function with its overloads and decorators."""
    start = re.compile(rf"{margin}(?:@|def (\w+))")
    head: list[str] = []
    found: dict[str, str] = {}
    block: list[str] = []
    name = None

    for line in text.splitlines(keepends=True):
        match = start.match(line)
        if match is None:
            (block or head).append(line)
            continue

        if name is not None:  # the last function ends where a decorator or another function begins
            found[name] = found.get(name, "") + "".join(block)
            block, name = [], None
        block.append(line)
        name = match[1]

    if name is not None:
        found[name] = found.get(name, "") + "".join(block)
    return "".join(head), found
