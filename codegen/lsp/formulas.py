"""The names that formulas may use, with what they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codegen.expressions import CONSTANTS, FUNCTIONS, Function, Scope, Signature
from codegen.expressions.rows import COUNT, REDUCTIONS, Reduction
from codegen.expressions.scope import METADATA_METHODS, REQUIREMENT_FUNCTIONS
from codegen.lsp.facts import Facts
from codegen.lsp.items import Item
from codegen.lsp.places import Place

_PROPERTY = re.compile(r"[\w)\]]\s*\.\s*\w*$")
# Functions of conditions besides those over one argument.
_OVER_LISTS = {"promote": "promote(dtype, dtype)", "len": "len(list)", "min": "min(x, y)", "max": "max(x, y)"}


def names_of_expr(place: Place) -> Iterator[Item]:
    """In ``expr`` and ``lowering``: arguments, functions of numbers and of rows, constants."""
    yield from _arguments(place)
    yield from (Item(f.name, "function", signature_of(f), meaning_of(f)) for f in FUNCTIONS.values())
    yield from (Item(r.name, "function", f"{r.name}(x)", meaning_of_row(r)) for r in REDUCTIONS.values())
    yield from (Item(name, "constant") for name in (*CONSTANTS, COUNT))


def names_of_formula(place: Place, facts: Facts) -> Iterator[Item]:
    """In a derivative: arguments, gradients and results, operators; properties of tensors behind a dot."""
    if _PROPERTY.search(place.before) and not re.search(r"\d\.$", place.before):
        for name, (kind, count) in METADATA_METHODS.items():
            yield Item(name, "property", kind, insert=f"{name}({'' if count else ')'}")
        return

    yield from _arguments(place)
    if place.schema is not None:
        scope = Scope(Signature(place.schema))
        yield from (Item(name, "variable", "the gradient of the result") for name in scope.gradient_names())
        yield from (Item(name, "variable", "what the operator returned") for name in scope.result_names())
    yield from (Item(name, "constant") for name in CONSTANTS)
    seen: set[str] = set()
    for operator in facts.operators():
        if operator.base_name not in seen:
            seen.add(operator.base_name)
            yield Item(operator.base_name, "function", str(operator), sort=f"~{operator.base_name}")


def names_of_requirement(place: Place, facts: Facts) -> Iterator[Item]:
    """In a condition: arguments, functions of them, dtypes and their sets."""
    yield from _arguments(place)
    for name, (count, kind) in REQUIREMENT_FUNCTIONS.items():
        yield Item(name, "function", f"{name}({', '.join('xy'[:count])}) -> {kind}")
    yield from (Item(name, "function", text) for name, text in _OVER_LISTS.items())
    yield Item("all", "function", "all(list > 0) -> bool")
    yield Item("none", "constant", "the argument is missing")
    yield from (Item(name, "constant", text, sort=f"~{name}") for name, text in facts.dtype_sets().items())


def signature_of(function: Function) -> str:
    return f"{function.name}({', '.join(function.parameters)})"


def meaning_of(function: Function) -> str:
    """Its derivatives, as docs/entries.md shows them."""
    listed = ", ".join("none" if d is None else f"`{d}`" for d in function.derivatives)
    return f"Derivatives: {listed}." + (f" {function.note}" if function.note else "")


def meaning_of_row(reduction: Reduction) -> str:
    return f"Over the elements of a row: {reduction.note}."


def _arguments(place: Place) -> Iterator[Item]:
    if place.schema is not None:
        yield from (
            Item(a.name, "variable", str(a), sort=f" {a.name}") for a in place.schema.arguments.flat_all
        )
