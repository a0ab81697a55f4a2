"""Where an entry stands, as generated files say it.

Note [Line numbers]. Sources name the topic of an entry and not its line: with lines, a new entry would change
every file generated from the entries below it, and recompile them. The schema above each function finds the
entry; lines are in operators.json, in the documentation, and printed by ``python -m codegen explain``.
"""

from __future__ import annotations

from codegen.model import Operator


def place_of(operator: Operator) -> str:
    """``native_functions.yaml, PointwiseMath``"""
    return f"{operator.location.file}, {operator.topic}"


def line_of(operator: Operator) -> str:
    """``native_functions.yaml:12``, for what is not compiled."""
    return f"{operator.location.file}:{operator.location.line}"
