"""Pages that show files of the repository, with a link to each line, and excerpts of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path

_MACRO = re.compile(r"[A-Z][A-Z0-9_]+\(")
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{path}</title><link rel="stylesheet" href="{up}assets/site/source.css"></head>
<body><header><a href="{up}index.html">torch_py</a> <b>{path}</b></header>
<pre>{lines}</pre></body></html>
"""


@dataclass
class Sources:
    """The files that pages link to."""

    root: Path
    linked: set[str] = field(default_factory=set)

    def link(self, path: str, line: int | None = None) -> str:
        """The address of a file's page, from the top of the site."""
        self.linked.add(path)
        return f"source/{path}.html" + (f"#L{line}" if line else "")

    def excerpt(self, path: str, line: int) -> str:
        """The definition that begins in a line: a function, a class or a call of a macro."""
        lines = _lines(self.root / path)
        end = _end_in_python(lines, line - 1) if path.endswith(".py") else _end_in_cpp(lines, line - 1)
        return "\n".join(lines[line - 1 : end + 1]).rstrip()

    def write(self, folder: Path) -> None:
        for path in sorted(self.linked):
            target = folder / "source" / f"{path}.html"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(_page(path, _lines(self.root / path)), encoding="utf-8")


@cache
def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def _end_in_cpp(lines: list[str], start: int) -> int:
    """The line with the brace that closes a function, or the bracket that closes a macro's arguments."""
    if not _MACRO.match(lines[start]):
        return next((i for i in range(start, len(lines)) if lines[i].startswith("}")), len(lines) - 1)

    depth = 0
    for number in range(start, len(lines)):
        depth += lines[number].count("(") - lines[number].count(")")
        if depth <= 0:
            return number
    return len(lines) - 1


def _end_in_python(lines: list[str], start: int) -> int:
    """The last line of a function in Python, of which decorators come first."""
    first = next((i for i in range(start, len(lines)) if lines[i].startswith(("def ", "class "))), start)
    end = next((i for i in range(first + 1, len(lines)) if lines[i][:1] not in ("", " ", ")")), len(lines))
    return end - 1


def _page(path: str, lines: list[str]) -> str:
    up = "../" * (path.count("/") + 1)
    if lines and not lines[-1]:
        lines = lines[:-1]
    shown = "".join(f'<span id="L{number}">{escape(line)}\n</span>' for number, line in enumerate(lines, 1))
    return _PAGE.format(path=escape(path), up=up, lines=shown)
