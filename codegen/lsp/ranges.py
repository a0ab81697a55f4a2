"""The characters that a diagnostic is about, and the text that its hint wants there."""

from __future__ import annotations

import re

from codegen.diagnostics import Diagnostic
from codegen.lsp.text import Edit, Lines, Span

_QUOTED = re.compile(r"'([^'\n]+)'")
_WORD = re.compile(r"[A-Za-z_][\w.]*|-?\d[\w.]*|[^\s\w]")
_MEANT = re.compile(r"did you mean '?([\w.]+)'?\?")
_NEEDLESS = "follows without being written"


def span_of(diagnostic: Diagnostic, lines: Lines) -> Span:
    """What the message quotes, if that is written at the place; otherwise the word there."""
    place = diagnostic.location
    number = min(place.line, len(lines)) - 1
    line = lines.line(number)
    column = min(place.column - 1, len(line))
    start = lines.start(number) + column

    if _NEEDLESS in diagnostic.message:  # the value, of which the message quotes the key as well
        return Span(start, start + max(len(line.rstrip()) - column, 0))
    quoted = [text for text in _QUOTED.findall(diagnostic.message) if line.startswith(text, column)]
    if quoted:
        return Span(start, start + len(max(quoted, key=len)))
    word = _WORD.match(line, column)
    return Span(start, start + len(word.group())) if word else Span(start, start)


def correction(diagnostic: Diagnostic, lines: Lines) -> tuple[str, Edit] | None:
    """A title, and the edit that does what the hint says; None if that takes an author."""
    span = span_of(diagnostic, lines)
    meant = _MEANT.search(diagnostic.hint)
    if meant is not None and span.end > span.start:
        return f"Change to {meant[1]}", Edit(span, meant[1])
    if _NEEDLESS in diagnostic.message:
        return _without_line(diagnostic, lines)
    return None


def _without_line(diagnostic: Diagnostic, lines: Lines) -> tuple[str, Edit] | None:
    """Removes the line of a key with a value that follows anyway, and the line above if nothing is left."""
    number = diagnostic.location.line - 1
    text = lines.line(number)
    key = re.match(r" *([A-Za-z_]\w*): *\S", text)
    if key is None or text.rstrip().endswith(("|", ">")):
        return None

    first = number
    margin = len(text) - len(text.lstrip())
    above = lines.line(number - 1) if number else ""
    below = lines.line(number + 1) if number + 1 < len(lines) else ""
    is_only = re.fullmatch(r" *[A-Za-z_]\w*: *", above) and len(above) - len(above.lstrip()) < margin
    if is_only and len(below) - len(below.lstrip()) < margin:
        first = number - 1
    end = lines.start(number + 1) if number + 1 < len(lines) else lines.start(number) + len(text)
    return f"Remove {key[1]}", Edit(Span(lines.start(first), end), "")
