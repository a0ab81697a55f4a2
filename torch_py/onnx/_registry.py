"""The tables of rules that translate operators to ONNX; each family of operators has a file.

A *rule* writes the ONNX nodes of a recorded call. A *decomposition* computes an operator that ONNX lacks with
others, while the program is recorded. Pointwise operators without either are translated from the expression
that defines them, see _expressions. Composite operators without either are recorded as what they call.

These tables implement a translation, as kernels implement a device; they say nothing of operators that
native_functions.yaml does not say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py.onnx._graph import Graph, Node

# Takes the graph and the call. Returns the name of the output, or of each output (None for an output that
# must not be used).
Rule = Callable[[Graph, Node], Any]
RULES: dict[str, Rule] = {}

# Takes the operator's arguments by name. Returns the result, or NotImplemented to have the operator itself
# recorded.
DECOMPOSITIONS: dict[str, Callable[..., Any]] = {}

# Operators that replace all elements of the first argument, whatever they were.
OVERWRITING: set[str] = set()


def rule(*names: str, overwrites: bool = False) -> Callable[[Rule], Rule]:
    """Registers a rule: `add` serves all overloads, also those in place; `where.self` only this one."""
    if overwrites:
        OVERWRITING.update(names)

    def register(function: Rule) -> Rule:
        for name in names:
            assert name not in RULES, f"two rules for {name}"
            RULES[name] = function
        return function

    return register


def find(table: dict[str, Any], name: str, overload: str) -> Any:
    """What a table has for an overload, else for its operator; None if there is neither."""
    return table.get(f"{name}.{overload.partition('.')[2] or 'default'}", table.get(name))


def decomposes(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function that computes operators."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        DECOMPOSITIONS.update(dict.fromkeys(names, function))
        return function

    return register
