"""The exception and the record that report mistakes in expressions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from codegen.diagnostics import closest


class ExpressionError(Exception):
    """The text cannot be read, or an operation on its tree has no answer.

    ``offset`` counts characters from the start of the text; the caller adds the line and column of the text
    itself.
    """

    def __init__(self, message: str, offset: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


class FormulaProblem(NamedTuple):
    """One mistake found by a check; a check returns every one it finds."""

    offset: int
    message: str
    hint: str = ""


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """``did you mean 'tanh'?`` or an empty string when nothing is close."""
    near = closest(name, candidates)
    return f"did you mean '{near}'?" if near else ""
