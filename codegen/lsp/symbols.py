"""The outline of a file: its tables, its topics and their entries, found line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from codegen.lsp.text import Lines, Span

_KEY = re.compile(r"^(?P<margin> *)(?P<key>[A-Za-z_][\w.]*) *:(?= |$)")
_ENTRY = re.compile(r"^ *- *func: *['\"]?(?P<name>[A-Za-z_][\w.]*)")
_STRUCTURE = re.compile(r"^ *structure: *(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Symbol:
    """``kind`` is a word of conversion.SYMBOL_KINDS; ``name_span`` is the part of ``span`` to go to."""

    name: str
    kind: str
    detail: str
    span: Span
    name_span: Span
    children: tuple[Symbol, ...] = ()


def symbols(lines: Lines) -> list[Symbol]:
    found = []
    for key, first, last in _sections(lines, 0, len(lines), ""):
        if key == "topics":
            children = [_topic(lines, *topic) for topic in _sections(lines, first + 1, last, None)]
        else:
            children = [_symbol(lines, *item, "constant") for item in _sections(lines, first + 1, last, None)]
        found.append(_symbol(lines, key, first, last, "section", tuple(children)))
    return found


def _sections(lines: Lines, first: int, last: int, margin: str | None) -> Iterator[tuple[str, int, int]]:
    """Key, first line and line behind the last of each key with this margin, by default the first key's."""
    starts = []
    for number in range(first, last):
        found = _KEY.match(lines.line(number))
        if found and margin is None:
            margin = found["margin"]
        if found and found["margin"] == margin:
            starts.append((found["key"], number))
    ends = [number for _, number in starts[1:]] + [last]
    yield from ((key, number, end) for (key, number), end in zip(starts, ends))


def _topic(lines: Lines, name: str, first: int, last: int) -> Symbol:
    numbered = [(number, _ENTRY.match(lines.line(number))) for number in range(first + 1, last)]
    entries = [(number, found) for number, found in numbered if found is not None]
    ends = [number for number, _ in entries[1:]] + [last]
    children = [_entry(lines, number, found, end) for (number, found), end in zip(entries, ends)]
    return _symbol(lines, name, first, last, "topic", tuple(children))


def _entry(lines: Lines, first: int, found: re.Match[str], last: int) -> Symbol:
    start = lines.start(first)
    name = Span(start + found.start("name"), start + found.end("name"))
    whole = Span(start, max(_end(lines, first, last), name.end))
    structure = _STRUCTURE.search(lines.text, whole.start, whole.end)
    return Symbol(found["name"], "entry", structure[1] if structure else "", whole, name)


def _symbol(
    lines: Lines, name: str, first: int, last: int, kind: str, children: tuple[Symbol, ...] = ()
) -> Symbol:
    start = lines.start(first)
    margin = len(lines.line(first)) - len(lines.line(first).lstrip())
    place = Span(start + margin, start + margin + len(name))
    whole = Span(start, max(_end(lines, first, last), place.end))
    return Symbol(name, kind, "", whole, place, children)


def _end(lines: Lines, first: int, last: int) -> int:
    """Of the text in the lines before ``last``, without blank lines at its end."""
    start = lines.start(first)
    end = lines.start(last) if last < len(lines) else len(lines.text)
    return start + len(lines.text[start:end].rstrip())
