"""The text of a file, and the line and column of an offset inside a scalar's value.

Note [Offsets inside scalars]. A formula or schema is parsed as the value YAML gives it: quotes removed,
escapes replaced, lines of block and folded scalars joined, indentation gone. Only blanks change their number
on the way, so the n-th visible character of the value is the n-th visible character of the source (an escape
counts as one), and counting visible characters finds the place without knowing how each style folds.
"""

from __future__ import annotations

import bisect
import re

from codegen.diagnostics import Location


class Source:
    """A file's text; ``name`` is how diagnostics call the file.

    ``first_line`` is the number of the first line of ``text``, where that is a part of the file.
    """

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        self.name = name
        self.text = text
        self._lines_before = first_line - 1
        self._starts: list[int] | None = None

    def location(self, index: int) -> Location:
        """Of the character at ``index``."""
        if self._starts is None:
            self._starts = [0] + [m.end() for m in re.finditer("\n", self.text)]
        line = bisect.bisect_right(self._starts, index)
        return Location(self.name, self._lines_before + line, index - self._starts[line - 1] + 1)

    def index_in_scalar(self, start: int, end: int, value: str, offset: int) -> int:
        """Of character ``offset`` of ``value``, which the source writes at [start, end)."""

        if self.text.startswith(value, start) and end - start == len(value):  # nothing quoted, nothing folded
            return start + offset

        visible = sum(1 for c in value[:offset] if not c.isspace())
        at_visible = offset < len(value) and not value[offset].isspace()
        position = self._body_start(start, end)
        quote = self.text[start : start + 1]
        after_previous = position

        while position < end:
            if self.text[position].isspace():
                position += 1
                continue
            if visible == 0 and not at_visible:
                break
            width, counts = self._character(position, quote)
            if visible == 0 and counts:
                return position
            position += width
            visible -= counts
            after_previous = position

        return min(after_previous, end)

    def _body_start(self, start: int, end: int) -> int:
        first = self.text[start : start + 1]
        if first in ("|", ">"):
            newline = self.text.find("\n", start, end)
            return end if newline < 0 else newline + 1
        return start + 1 if first in ("'", '"') else start

    def _character(self, position: int, quote: str) -> tuple[int, int]:
        """How much source one character of the value takes, and whether it is visible there."""
        if quote == "'" and self.text.startswith("''", position):
            return 2, 1
        if quote == '"' and self.text[position] == "\\":
            return 2, 0 if self.text[position + 1 : position + 2] in ("n", "t", "r", " ", "\n") else 1
        return 1, 1
