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
    """Whether `-k` may select the test of `function`, by the names of an operator: its own, then its aliases.

    A keyword may be part of the file's name, the test's or the operator's.
    """
    if not expression:
        return lambda names: True
    texts = [f"{function.__module__.rsplit('.', 1)[-1]}.py", *vars(function)]
    lowered = [text.lower() for text in texts]
    test = function.__name__.lower()

    if expression.isidentifier():  # as nearly always; no word contains the bracket between test and operator
        word = expression.lower()
        if any(word in text for text in (*lowered, test)):
            return lambda names: True
        return lambda names: word in names.lower()

    def evaluated(names: str) -> bool:
        name, *aliases = names.lower().split()
        known = [*lowered, f"{test}[{name}]", *aliases]
        return bool(_compiled(expression).evaluate(lambda word, **_: any(word.lower() in t for t in known)))

    return evaluated


@cache
def _compiled(text: str) -> Expression:
    return Expression.compile(text)


def parametrized(
    names: str,
    values: Callable[[], Iterable[Value]],
    name_of: Callable[[Value], str],
    aliases_of: Callable[[Value], Iterable[str]],
    select: Callable[[Value], bool],
) -> Callable[[Any], Any]:
    """A mark of pytest for those of `values` that `select` takes, as far as `-k` may take them, too."""

    def decorate(function: FunctionType) -> Any:
        named = [(value, name_of(value)) for value in values()]
        may_be_selected = selection_of(function)
        chosen = [
            (value, name)
            for value, name in named
            if may_be_selected(" ".join((name, *aliases_of(value)))) and select(value)
        ]
        mark = pytest.mark.parametrize(names, [v for v, _ in chosen], ids=[name for _, name in chosen])
        return mark(function)

    return decorate


def add_aliases(item: pytest.Item) -> None:
    """Lets `-k clip` select the tests of `clamp`."""
    callspec = getattr(item, "callspec", None)
    operator = callspec.params.get("operator") if callspec else None
    item.extra_keyword_matches.update(getattr(operator, "aliases", ()))
