"""Calls of compiled graphs: changes of arguments, and results as the program returns them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._functorch.aot.joint import Change, Traced
from torch_py._functorch.aot.outputs import Argument, Computed, Same, Viewed
from torch_py.autograd.grad_mode import no_grad

Compiled = Callable[..., Sequence[Any]]


class Call:
    """Calls a compiled graph and gives what the program would: ``call(arguments)`` returns a list."""

    def __init__(self, traced: Traced, run: Compiled) -> None:
        self.traced = traced
        self._run = run
        self._arguments = traced.arguments
        self._changes = traced.changes
        self._recipes = traced.outputs.recipes
        self._is_plain = not traced.changes and self._recipes == [
            Computed(position) for position in range(len(self._recipes))
        ]

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        values = self._run(*[arguments[position] for position in self._arguments])
        if self._is_plain:
            return list(values)
        for change in self._changes:
            apply(change, arguments, values)
        return self._results(arguments, values)

    def _results(self, arguments: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        results: list[Any] = []
        for recipe in self._recipes:
            results.append(_made(recipe, arguments, values, results))
        return results


def _made(recipe: Any, arguments: Sequence[Any], values: Sequence[Any], results: list[Any]) -> Any:
    if isinstance(recipe, Computed):
        return values[recipe.position]
    if isinstance(recipe, Argument):
        return arguments[recipe.position]
    if isinstance(recipe, Viewed):
        tensor = _made(recipe.source, arguments, values, results)
        for step in recipe.steps:
            tensor = step(tensor)
        return tensor
    return results[recipe.position] if isinstance(recipe, Same) else recipe.value


def apply(change: Change, arguments: Sequence[Any], values: Sequence[Any]) -> None:
    """Does to an argument what the program does."""
    argument = arguments[change.argument]
    for operator, args, kwargs in change.metadata:
        operator(argument, *args, **kwargs)
    if change.value is None:
        return
    if change.is_recorded:
        argument.copy_(values[change.value])
    else:
        with no_grad():
            argument.copy_(values[change.value])
