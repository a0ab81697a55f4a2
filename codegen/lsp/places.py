"""The key or value at the cursor, found line by line: while someone types, the text is often not YAML."""

from __future__ import annotations

import re
from dataclasses import dataclass

from codegen.lsp.text import Lines, Span
from codegen.remembered import cached_property
from codegen.schema import FunctionSchema, SchemaError
from codegen.yaml.entries import entry_starts

# Keys whose values may be maps in braces.
_WITH_MAPS = ("requires", "renamed", "deprecated")
ITEM = "-"  # in a path: an item of a list
_LINE = re.compile(r"(?P<margin> *)(?P<dash>-(?: +|$))?(?:(?P<key>[\w. ,]*?[\w]) *:(?=\s|$)(?P<gap> *))?")
_FLOW_KEY = re.compile(r"""[{,]\s*(?P<key>\w+)\s*:\s*(?P<value>(?:"[^"]*"?|'[^']*'?|[^,{}"'])*)$""")
_IN_BRACES = re.compile(r"[{,]\s*(?P<value>\w*)$")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DOTTED = re.compile(r"[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Place:
    """Where the cursor is.

    ``path`` has the keys around it: ``("topics", "Sum", "-", "derivatives")``. ``key`` is the key whose value
    the cursor is in, and None where a key or an item is being written. ``before`` is what is written of the
    value or key up to the cursor.
    """

    lines: Lines
    offset: int
    path: tuple[str, ...]
    key: str | None
    before: str

    @property
    def text(self) -> str:
        return self.lines.text

    @property
    def entry_key(self) -> str | None:
        """The key of the entry that the cursor is in or below: ``derivatives``."""
        inside = (*self.path, *([self.key] if self.key else []))
        return inside[3] if len(inside) > 3 and inside[0] == "topics" else None

    @property
    def is_in_prose(self) -> bool:
        """Whether the cursor is in the words of a message, and not between its braces."""
        return self.key == "message" and self.before.rfind("{") <= self.before.rfind("}")

    @property
    def is_in_entry(self) -> bool:
        return self.path[:1] == ("topics",) and len(self.path) > 2

    @cached_property
    def word(self) -> Span:
        """The word at the cursor, without dots."""
        return _around(_WORD, self.lines, self.offset)

    @cached_property
    def dotted(self) -> Span:
        """The word at the cursor, with dots: ``add.Tensor``."""
        return _around(_DOTTED, self.lines, self.offset)

    def at(self, span: Span) -> str:
        return self.text[span.start : span.end]

    @cached_property
    def entry(self) -> Span | None:
        """The text of the entry, up to the next one or to the next topic."""
        return entry_span(self.lines, self.offset) if self.is_in_entry else None

    def value_in_entry(self, key: str) -> str | None:
        """The text of a key of the entry, up to the end of its line."""
        if self.entry is None:
            return None
        found = re.search(rf"^ *(?:- +)?{key} *: *(.*)$", self.at(self.entry), re.MULTILINE)
        return found[1].strip() if found else None

    @cached_property
    def schema(self) -> FunctionSchema | None:
        """That of the entry, if it can be read."""
        written = self.value_in_entry("func")
        try:
            return FunctionSchema.parse(written.strip("'\"")) if written else None
        except SchemaError:
            return None

    @property
    def operator_name(self) -> str | None:
        """``add.Tensor``, as the entry writes it."""
        written = re.match(r"['\"]?([A-Za-z_][\w.]*)", self.value_in_entry("func") or "")
        return written[1] if written else None

    def keys_in_entry(self) -> frozenset[str]:
        """The keys that the entry has already."""
        if self.entry is None:
            return frozenset()
        return frozenset(re.findall(r"^ *(?:- +)?([a-z_]+) *:(?=\s)", self.at(self.entry), re.MULTILINE))


def entry_span(lines: Lines, offset: int) -> Span | None:
    """The entry around a character: from its dash to the next line that is not indented more than that."""
    end_of_line = lines.start(lines.number_at(offset)) + len(lines.line(lines.number_at(offset)))
    starts = [start for start in entry_starts(lines.text) if start <= end_of_line]
    if not starts:
        return None

    first = lines.number_at(starts[-1])
    margin = _margin(lines.line(first))
    for number in range(first + 1, len(lines)):
        line = lines.line(number)
        if line.strip() and _margin(line) <= margin:
            return Span(starts[-1], lines.start(number)) if offset < lines.start(number) else None
    return Span(starts[-1], len(lines.text))


def place_at(lines: Lines, offset: int) -> Place:
    number = lines.number_at(offset)
    line = lines.line(number)
    column = offset - lines.start(number)
    found = _LINE.match(line)
    assert found is not None

    if found["key"] is not None and column > found.end("key"):  # in a value
        margin = found.start("key")
        path = _path(
            lines, number, margin if not found["dash"] else len(found["margin"]), bool(found["dash"])
        )
        key: str | None = found["key"]
        before = line[found.end() : column] if column > found.end() else ""
    else:
        written = found["dash"]
        margin = len(found["margin"])
        if not line.strip():
            margin = column
        path = _path(lines, number, margin, bool(written))
        key = None
        before = line[found.end("dash") if written else len(found["margin"]) : column]
        if path and path[-1].endswith("\n"):  # below a value that goes on
            path, key = path[:-1], path[-1].rstrip("\n")

    return _in_braces(Place(lines, offset, tuple(part.rstrip("\n") for part in path), key, before))


def _in_braces(place: Place) -> Place:
    """The place inside of ``{check: ..., error: ...}``, where there are braces."""
    opened = place.before.rfind("{")
    if opened < 0 or "}" in place.before[opened:] or place.entry_key not in (*_WITH_MAPS, None):
        return place
    if not re.match(r"\s*\{", place.before) and place.key not in (*_WITH_MAPS, None):
        return place

    path = (*place.path, place.key) if place.key else place.path
    written = _FLOW_KEY.search(place.before)
    if written:
        return Place(place.lines, place.offset, path, written["key"], written["value"])
    named = _IN_BRACES.search(place.before)
    return Place(place.lines, place.offset, path, None, named["value"]) if named else place


def _path(lines: Lines, number: int, margin: int, is_item: bool) -> tuple[str, ...]:
    """The keys above a line, from the outermost one. A key whose value goes on below it ends in a newline."""
    found: list[str] = [ITEM] if is_item else []
    while number > 0 and (margin > 0 or is_item):
        number -= 1
        line = lines.line(number)
        if not is_item and _margin(line) >= margin:
            continue
        match = _LINE.match(line)
        if not line.strip() or match is None or line.lstrip().startswith("#"):
            continue

        own = len(match["margin"])
        inner = match.start("key") if match["key"] is not None else len(match["margin"])
        has_value = bool(line[match.end() :].strip())
        # The items of a list may be as far to the left as its key.
        if match["key"] is not None and (inner < margin or (is_item and inner == margin and not has_value)):
            found.append(match["key"] + ("\n" if has_value and not found else ""))
            margin, is_item = inner, False
        if match["dash"] and own < margin:
            found.append(ITEM)
            margin, is_item = own, True
    return tuple(reversed(found))


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _around(pattern: re.Pattern[str], lines: Lines, offset: int) -> Span:
    """The match in the line that contains the cursor or ends there; nothing otherwise."""
    number = lines.number_at(offset)
    start = lines.start(number)
    for found in pattern.finditer(lines.line(number)):
        if found.start() <= offset - start <= found.end():
            return Span(start + found.start(), start + found.end())
    return Span(offset, offset)
