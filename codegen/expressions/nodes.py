"""Functions of expression trees, and how they print back to text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import is_
from typing import Any

from codegen.expressions.node_types import (
    Binary,
    Boolean,
    Call,
    Compare,
    Conditional,
    Index,
    ListOf,
    Logical,
    Method,
    Name,
    Node,
    Nothing,
    Number,
    String,
    TupleOf,
    Unary,
)
from codegen.remembered import recently

__all__ = [
    "Binary",
    "Boolean",
    "Call",
    "Compare",
    "Conditional",
    "Index",
    "ListOf",
    "Logical",
    "Method",
    "Name",
    "Node",
    "Nothing",
    "Number",
    "String",
    "TupleOf",
    "Unary",
]


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, left to right."""
    return node.parts()


def rebuild(node: Node, function: Callable[[Node], Node]) -> Node:
    """The same node with ``function`` applied to each direct part.

    It is ``node`` itself if no part changes, so that what was remembered of it is still known.
    """
    before = node.parts()
    if not before:
        return node
    after = tuple(map(function, before))
    return node if all(map(is_, before, after)) else node.with_parts(after)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, outermost first."""
    pending = [node]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.parts())


@recently
def names(node: Node) -> tuple[str, ...]:
    """The names used, each once, in order of first use."""
    if isinstance(node, Name):
        return (node.name,)
    return tuple(dict.fromkeys(name for child in children(node) for name in names(child)))


def substitute(node: Node, values: Mapping[str, Node]) -> Node:
    """The node with each name in ``values`` replaced by its expression."""
    if isinstance(node, Name):
        return values.get(node.name, node)
    return rebuild(node, lambda part: substitute(part, values)) if values else node


# How tightly each construct binds; the parser and every printer share these.
CONDITIONAL, OR, AND, NOT, COMPARISON, SUM, PRODUCT, NEGATION, POWER, POSTFIX = range(1, 11)

_BINARY_PRECEDENCE = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT, "**": POWER}


def binary_precedence(operator: str) -> int:
    return _BINARY_PRECEDENCE[operator]


_PRECEDENCE: dict[type, Callable[[Any], int]] = {
    Conditional: lambda node: CONDITIONAL,
    Logical: lambda node: OR if node.operator == "or" else AND,
    Compare: lambda node: COMPARISON,
    Unary: lambda node: NOT if node.operator == "not" else NEGATION,
    Binary: lambda node: _BINARY_PRECEDENCE[node.operator],
    Number: lambda node: NEGATION if node.value < 0 else POSTFIX,
}


def precedence(node: Node) -> int:
    """How tightly the outermost construct of ``node`` binds."""
    found = _PRECEDENCE.get(type(node))
    return POSTFIX if found is None else found(node)


def parenthesized(text: str, node: Node, at_least: int) -> str:
    """``text``, which prints ``node``, in parentheses if ``node`` binds less tightly than ``at_least``."""
    found = _PRECEDENCE.get(type(node))
    return text if found is None or found(node) >= at_least else f"({text})"


def number_text(value: int | float) -> str:
    return repr(value)


def to_source(node: Node) -> str:
    """Prints with the fewest parentheses; ``parse(to_source(node)) == node``."""
    try:
        return node.text
    except AttributeError:
        text = node.text = _PRINTERS[type(node)](node)
        return text


def _print(node: Node, at_least: int = 0) -> str:
    return parenthesized(to_source(node), node, at_least)


def _print_list(items: tuple[Node, ...]) -> str:
    return ", ".join(map(to_source, items))


def _print_string(node: String) -> str:
    return '"' + node.value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _print_unary(node: Unary) -> str:
    if node.operator == "not":
        return f"not {_print(node.operand, NOT)}"
    return f"-{_print(node.operand, NEGATION)}"


def _print_binary(node: Binary) -> str:
    level = _BINARY_PRECEDENCE[node.operator]
    if node.operator == "**":  # associates to the right, and its exponent may be -x
        return f"{_print(node.left, POSTFIX)} ** {_print(node.right, NEGATION)}"
    return f"{_print(node.left, level)} {node.operator} {_print(node.right, level + 1)}"


def _print_logical(node: Logical) -> str:
    level = precedence(node)
    return f"{_print(node.left, level)} {node.operator} {_print(node.right, level + 1)}"


def _print_compare(node: Compare) -> str:
    parts = [_print(node.operands[0], SUM)]
    for operator, operand in zip(node.operators, node.operands[1:]):
        parts += [operator, _print(operand, SUM)]
    return " ".join(parts)


def _print_conditional(node: Conditional) -> str:
    condition = _print(node.condition, OR)
    return f"{condition} ? {_print(node.then, OR)} : {_print(node.otherwise, CONDITIONAL)}"


def _print_method(node: Method) -> str:
    target = _print(node.target, POSTFIX)
    if isinstance(node.target, Number):
        target = f"({target})"
    arguments = "" if node.arguments is None else f"({_print_list(node.arguments)})"
    return f"{target}.{node.name}{arguments}"


def _print_tuple(node: TupleOf) -> str:
    comma = "," if len(node.items) == 1 else ""
    return f"({_print_list(node.items)}{comma})"


_PRINTERS: dict[type, Callable[[Any], str]] = {
    Number: lambda node: number_text(node.value),
    String: _print_string,
    Boolean: lambda node: "true" if node.value else "false",
    Nothing: lambda node: "none",
    Name: lambda node: str(node.name),
    Unary: _print_unary,
    Binary: _print_binary,
    Logical: _print_logical,
    Compare: _print_compare,
    Conditional: _print_conditional,
    Call: lambda node: f"{node.function}({_print_list(node.arguments)})",
    Method: _print_method,
    Index: lambda node: f"{_print(node.target, POSTFIX)}[{to_source(node.index)}]",
    ListOf: lambda node: f"[{_print_list(node.items)}]",
    TupleOf: _print_tuple,
}
