"""The place of an entry in the declarations, as generated files name it.

Note [Line numbers]. Generated files name the topic of an entry and not its line: with lines, a new entry
would change every file generated from the entries below it, and recompile them. One finds the entry by the
schema above each function. Lines are in operators.json and in the output of ``python -m codegen explain``.
"""

from __future__ import annotations

from codegen.model import Operator


def place_of(operator: Operator) -> str:
    """``native_functions.yaml, PointwiseMath``"""
    return f"{operator.location.file}, {operator.topic}"
