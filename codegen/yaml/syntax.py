"""Turns libyaml's syntax errors into a place, a message and a hint."""

from __future__ import annotations

import re

import yaml

from codegen.yaml.slips import key_without_blank

# Fragments of libyaml's wording -> (ours, what to write).
_HINTS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "': ' inside an unquoted value",
        'quote the whole value: key: "a ? b : c"',
    ),
    ("violates indentation", "a tab indents a line", "indent by spaces, not tabs"),
    (
        "cannot start any token",
        "a character that starts no YAML value",
        "quote the value; indent by spaces, not tabs",
    ),
    (
        "did not find expected key",
        "the indentation does not match the lines above",
        "align this key with the keys of its entry",
    ),
    (
        "did not find expected '-' indicator",
        "the indentation does not match the lines above",
        "align '- func:' with the entries of its topic, and the other keys with its 'func'",
    ),
    (
        "could not find expected ':'",
        "a line that is neither 'key: value' nor part of a value",
        "write 'key: value', or indent the line below the value that it continues",
    ),
    ("found unexpected end of stream", "a quote is not closed", "close it on the line where the value ends"),
    ("found unexpected document indicator", "a second document in the file", "remove '---'"),
    ("found another document", "a second document in the file", "remove '---'"),
    ("expected a single document", "a second document in the file", "remove '---'"),
    ("found undefined alias", "a value starts with '*'", "quote the value"),
    ("did not find expected ',' or", "a list in brackets is not closed", "write [a, b], or quote the value"),
    (
        "did not find expected alphabetic or numeric character",
        "a value starts with '*' or '&'",
        "quote the value",
    ),
    (
        "did not find expected whitespace or line break",
        "text directly behind a quote, '|' or '>'",
        "quote the whole value or none of it",
    ),
    (
        "did not find expected comment or line break",
        "text behind '|' or '>'",
        "start the text in the next line",
    ),
    ("found unknown escape character", "an unknown escape in double quotes", "use single quotes"),
)

_KEY = re.compile(r" +[a-z_]+")
_NOT_CLOSED = (
    "could not find expected ':'",
    "found unexpected end of stream",
    "did not find expected ',' or",
)


def syntax_hint(error: yaml.YAMLError, text: str) -> tuple[int, str, str]:
    """(index in ``text``, what is wrong, what to write)"""

    if isinstance(error, yaml.reader.ReaderError):
        return (
            min(int(error.position), len(text)),
            "a character that YAML does not allow",
            "remove the control character",
        )

    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = str(getattr(error, "problem", None) or error)
    # Where a quote, a bracket or a key begins says more than where its end was missed.
    if problem.startswith(_NOT_CLOSED):
        mark = getattr(error, "context_mark", None) or mark

    index = len(text) if mark is None else min(mark.index, len(text))

    if problem.startswith(("block sequence entries are not allowed", "did not find expected node content")):
        return _stray_dash(index, text)
    if (
        problem.startswith("did not find expected key")
        and text[text.rfind("\n", 0, index) + 1 : index].strip()
    ):
        return index, "text behind a closed quote or bracket", "quote the whole value or none of it"

    line = text[text.rfind("\n", 0, index) + 1 : index]
    if "mapping values are not allowed" in problem and line.lstrip(" -").startswith("func:"):
        return index, "': ' inside a schema", "write the type before the name: Tensor self"

    if "mapping values are not allowed" in problem and _KEY.fullmatch(line):
        # A line with more blanks than the keys above continues the value of the last one.
        start = index - len(line.lstrip(" "))
        hint = "align this key with the keys of its entry"
        return start, "the indentation does not match the lines above", hint

    slip = (
        key_without_blank(text, _end_of_line(text, index))
        if "could not find expected ':'" in problem
        else None
    )
    if slip is not None:
        return slip[0], f"no blank behind '{slip[1]}:'", f"write {slip[1]}: and a blank"

    for fragment, message, hint in _HINTS:
        if fragment in problem:
            return index, message, hint

    return index, problem, "see the lines just above for the indentation and quoting of their neighbours"


def _end_of_line(text: str, index: int) -> int:
    found = text.find("\n", index)
    return len(text) if found < 0 else found + 1


def _stray_dash(index: int, text: str) -> tuple[int, str, str]:
    """A '-' inside a value; where it begins a line, a bracket above it was left open."""
    before = text[:index].rstrip(" ")
    if before.endswith("\n"):
        return (
            max(len(before.rstrip()) - 1, 0),
            "a list in brackets is not closed",
            "write [a, b], or quote the value",
        )
    return index, "a list inside a line", "quote the value, or start the list in the next line"
