"""Leaves out operators that `-k` deselects, before tests are made: pytest takes eight seconds for all."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from types import FunctionType
from typing import Any, TypeVar

import pytest
from _pytest.mark.expression import Expression

Value = TypeVar("Value")

# That of the command line; tests/ops/conftest.py sets it.
expression = ""


def selection_of(function: FunctionType) -> Callable[[str], bool]:
    """Whether `-k` may select the test of `function`, by the name of an operator.

    A keyword may be part of the file's name, the test's or the operator's.
    """
    if not expression:
        return lambda name: True
    texts = [f"{function.__module__.rsplit('.', 1)[-1]}.py", *vars(function)]
    lowered = [text.lower() for text in texts]
    test = function.__name__.lower()

    if expression.isidentifier():  # as nearly always; no word contains the bracket between test and operator
        word = expression.lower()
        if any(word in text for text in (*lowered, test)):
            return lambda name: True
        return lambda name: word in name.lower()

    def evaluated(name: str) -> bool:
        known = [*lowered, f"{test}[{name.lower()}]"]
        return bool(_compiled(expression).evaluate(lambda word, **_: any(word.lower() in t for t in known)))

    return evaluated


@cache
def _compiled(text: str) -> Expression:
    return Expression.compile(text)


def parametrized(
    names: str,
    values: Callable[[], Iterable[Value]],
    name_of: Callable[[Value], str],
    select: Callable[[Value], bool],
) -> Callable[[Any], Any]:
    """A mark of pytest for those of `values` that `select` takes, as far as `-k` may take them, too."""

    def decorate(function: FunctionType) -> Any:
        named = [(value, name_of(value)) for value in values()]
        may_be_selected = selection_of(function)
        chosen = [(v, name) for v, name in named if may_be_selected(name) and select(v)]
        mark = pytest.mark.parametrize(names, [v for v, _ in chosen], ids=[name for _, name in chosen])
        return mark(function)

    return decorate
