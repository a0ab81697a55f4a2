"""Slips that YAML finds elsewhere: markers of an unfinished merge, a key without a blank behind it, and a
quote that is closed by the next one."""

from __future__ import annotations

import re

# The three parts of a conflict: what is here, with what it was made from in between, and what came in.
_CONFLICT = re.compile(
    r"^<{7}[^\n]*\n(?P<ours>.*?)^(?:\|{7}[^\n]*\n.*?^)?={7}[^\n]*\n(?P<theirs>.*?)^>{7}[^\n]*\n",
    re.MULTILINE | re.DOTALL,
)
_MARKER = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})[^\n]*", re.MULTILINE)
_KEY_WITHOUT_BLANK = re.compile(r"^ *(?:- +)?([a-z_]+):(?=\S)", re.MULTILINE)
# A quoted value in front of another key or entry; blanks are those that end the line.
_OPENED = re.compile(
    r"^ *(?:- +)?[A-Za-z_][\w, ]*: +(?P<quote>['\"])[^\n]*(?=\n *(?:- +)?[a-z_]+:(?: |$)|\s*\Z)", re.MULTILINE
)
_CLOSED = {"'": re.compile(r"'(?:[^'\n]|'')*'(?!')"), '"': re.compile(r'"(?:[^"\\\n]|\\.)*"')}


def unfinished_merge(text: str) -> tuple[int, str] | None:
    """Where the first marker of a merge conflict is, and the text without conflicts: as it was here."""
    marker = _MARKER.search(text)
    if marker is None:
        return None

    def ours(match: re.Match[str]) -> str:
        kept = "".join(
            character if match.start("ours") <= index < match.end("ours") or character == "\n" else " "
            for index, character in enumerate(match.group(), match.start())
        )
        return kept

    return marker.start(), _MARKER.sub(lambda m: " " * len(m.group()), _CONFLICT.sub(ours, text))


def key_without_blank(text: str, index: int) -> tuple[int, str] | None:
    """The key like ``doc:X`` in the lines just before ``index``: its place and name."""
    lines = text[:index].splitlines(keepends=True)
    start = index
    for line in reversed(lines[-3:]):
        start -= len(line)
        found = _KEY_WITHOUT_BLANK.match(line)
        if found is not None:
            return start + found.start(1), found.group(1)
    return None


def unclosed_quote(entry: str) -> tuple[int, str, str] | None:
    """The first quote that its line does not close although a key begins the next line."""
    for found in _OPENED.finditer(entry):
        if not _CLOSED[found["quote"]].match(entry, found.start("quote")):
            return found.start("quote"), "a quote is not closed", "close it on the line where the value ends"
    return None


def dash_without_blank(entry: str) -> tuple[int, str, str] | None:
    """An entry that begins with ``-func:``."""
    found = re.match(r" *-(?=func:)", entry)
    return None if found is None else (found.end() - 1, "no blank behind '-'", "write - func:")
