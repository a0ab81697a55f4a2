"""Calls of compiled graphs: changes of arguments, and results as the program returns them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_py._functorch.aot.joint import Change, Reshaping, Traced
from torch_py._functorch.aot.outputs import Argument, Computed, InputOfGraph, Same, Viewed
from torch_py.autograd.grad_mode import no_grad

Compiled = Callable[..., Sequence[Any]]


class Call:
    """Calls a compiled graph and gives what the program would: ``call(arguments)`` returns a list."""

    def __init__(self, traced: Traced, run: Compiled) -> None:
        self.traced = traced
        self._run = run
        self._sources = traced.inputs
        self._changes = traced.changes
        self._reshapings = traced.reshapings
        self._recipes = traced.outputs.recipes
        self._is_plain = not (traced.changes or traced.reshapings) and self._recipes == [
            Computed(position) for position in range(len(self._recipes))
        ]

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        inputs = [source.of(arguments) for source in self._sources]
        values = self._run(*inputs)
        if self._is_plain:
            return list(values)

        for reshaping in self._reshapings:
            reshape(reshaping, arguments)
        for change in self._changes:
            fill(change, inputs, values)

        results: list[Any] = []
        for recipe in self._recipes:
            results.append(_made(recipe, arguments, inputs, values, results))
        return results


def _made(
    recipe: Any,
    arguments: Sequence[Any],
    inputs: Sequence[Any],
    values: Sequence[Any],
    results: list[Any],
) -> Any:
    if isinstance(recipe, Computed):
        return values[recipe.position]
    if isinstance(recipe, Argument):
        return arguments[recipe.position]
    if isinstance(recipe, Viewed):
        from_input = isinstance(recipe.source, InputOfGraph)
        tensor = (inputs if from_input else values)[recipe.source.position]
        for step in recipe.steps:
            tensor = step(tensor)
        return tensor
    return results[recipe.position] if isinstance(recipe, Same) else recipe.value


def reshape(reshaping: Reshaping, arguments: Sequence[Any]) -> None:
    argument = arguments[reshaping.argument]
    for operator, args, kwargs in reshaping.operators:
        operator(argument, *args, **kwargs)


def fill(change: Change, inputs: Sequence[Any], values: Sequence[Any]) -> None:
    if change.is_recorded:
        inputs[change.input].copy_(values[change.value])
    else:
        with no_grad():
            inputs[change.input].copy_(values[change.value])
