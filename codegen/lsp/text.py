"""Lines and columns of a text, as editors count them."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

# What a column counts, by the protocol's names: bytes, pairs of bytes, or characters.
_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_ALONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Span:
    """Characters ``start`` to ``end`` of a text."""

    start: int
    end: int


@dataclass(frozen=True)
class Edit:
    """Replaces the characters of a span."""

    span: Span
    text: str


def normalised(text: str) -> str:
    """The text with lines that end in newlines, without halves of characters. Lines and columns stay."""
    return _ALONE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


class Lines:
    """Finds the line and column of a character, and back; both count from 0."""

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.text = text
        self._codec, self._width = _UNITS[encoding]
        self._is_plain = text.isascii()
        self._starts = [0] + [found.end() for found in re.finditer("\n", text)]

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """Without its newline."""
        start = self._starts[number]
        end = self._starts[number + 1] - 1 if number + 1 < len(self._starts) else len(self.text)
        return self.text[start:end]

    def start(self, number: int) -> int:
        return self._starts[number]

    def number_at(self, offset: int) -> int:
        return bisect.bisect_right(self._starts, offset) - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Of the character at ``offset``."""
        number = self.number_at(offset)
        return number, self._units(self.text[self._starts[number] : offset])

    def offset(self, number: int, column: int) -> int:
        """Of a position; one behind the end of a line or of the text means that end."""
        if number >= len(self._starts):
            return len(self.text)
        line = self.line(max(number, 0))
        start = self._starts[max(number, 0)]
        if self._is_plain:
            return start + min(column, len(line))

        units = 0
        for index, character in enumerate(line):
            if units >= column:
                return start + index
            units += self._units(character)
        return start + len(line)

    def _units(self, text: str) -> int:
        return len(text) if self._is_plain else len(text.encode(self._codec)) // self._width
