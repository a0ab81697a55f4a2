"""Finds the entries of a file in its text, so that a broken one is one problem and hides no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from codegen.yaml.slips import dash_without_blank, unclosed_quote
from codegen.yaml.syntax import syntax_hint

# The first line of an entry.
_START = re.compile(r"^( *)- *func:", re.MULTILINE)
_NAME = re.compile(r"- *func: *['\"]?([A-Za-z_]\w*)")
# What follows the last entry of a topic: the next topic, a chapter's comment, or a key of the file.
_HEADING = re.compile(r"^(?P<margin> *)(?:[A-Za-z_]\w*: *(?:#.*)?$|#)", re.MULTILINE)

# Start and end in the text.
Span = tuple[int, int]


def entry_starts(text: str) -> list[int]:
    return [found.start() for found in _START.finditer(text)]


def entry_around(text: str, index: int) -> Span | None:
    """The lines of the entry that contains ``index``."""
    starts = entry_starts(text)
    before = [start for start in starts if start <= index]
    if not before:
        return None
    after = [start for start in starts if start > before[-1]]
    return before[-1], after[0] if after else len(text)


def name_in(text: str, span: Span) -> str | None:
    """The name of the operator that the entry declares."""
    found = _NAME.search(text, *span)
    return found[1] if found else None


def blanked(text: str, span: Span) -> str:
    """The text without an entry. Blank lines keep the line numbers of what follows."""
    return text[: span[0]] + re.sub(r"[^\n]", " ", text[span[0] : span[1]]) + text[span[1] :]


def broken_entries(text: str, loader: Any) -> Iterator[tuple[Span, int, str, str]]:
    """Each entry that is not YAML by itself: its lines, and the place, message and hint of its problem."""
    for span in entry_spans(text):
        entry = text[slice(*span)]
        try:
            yaml.compose(entry, Loader=loader)
        except yaml.YAMLError as error:
            slip = dash_without_blank(entry) or unclosed_quote(entry)
            index, message, hint = slip or syntax_hint(error, entry)
            yield span, span[0] + index, message, hint


def entry_spans(text: str) -> Iterator[Span]:
    """From each ``- func:`` to the next one, or to the heading of the next topic."""
    found = list(_START.finditer(text))
    for start, following in zip(found, [*found[1:], None]):
        end = following.start() if following is not None else len(text)
        headings = (
            heading.start()
            for heading in _HEADING.finditer(text, start.end(), end)
            if len(heading["margin"]) < len(start[1])
        )
        yield start.start(), next(headings, end)
