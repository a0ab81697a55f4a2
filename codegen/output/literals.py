"""Texts as C++ string literals."""

from __future__ import annotations


def cpp_string(text: str) -> str:
    """A C++ string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def cpp_lines(text: str, columns: int) -> str:
    """One literal for each line of ``text``, below each other and indented by ``columns``."""
    lines = text.split("\n")
    pieces = [cpp_string(line + ("\n" if i + 1 < len(lines) else "")) for i, line in enumerate(lines)]
    return ("\n" + " " * columns).join(pieces)
