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
    yield node
    for child in children(node):
        yield from walk(child)


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
    return f"({text})" if precedence(node) < at_least else text


def number_text(value: int | float) -> str:
    return repr(value)


def to_source(node: Node) -> str:
    """Prints with the fewest parentheses; ``parse(to_source(node)) == node``."""
    try:
        return node.text
    except AttributeError:
        text = node.text = _SourcePrinter().print_whole(node)
        return text


class _SourcePrinter:
    def print(self, node: Node, at_least: int = 0) -> str:
        return parenthesized(to_source(node), node, at_least)

    def print_whole(self, node: Node) -> str:
        if isinstance(node, (Unary, Binary, Logical, Compare, Conditional)):
            return self._operation(node)

        if isinstance(node, Number):
            return number_text(node.value)
        if isinstance(node, String):
            return '"' + node.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if isinstance(node, Boolean):
            return "true" if node.value else "false"
        if isinstance(node, Nothing):
            return "none"

        if isinstance(node, Name):
            return node.name
        return self._compound(node)

    def _operation(self, node: Unary | Binary | Logical | Compare | Conditional) -> str:
        if isinstance(node, Unary):
            if node.operator == "not":
                return f"not {self.print(node.operand, NOT)}"
            return f"-{self.print(node.operand, NEGATION)}"

        if isinstance(node, Binary):
            level = binary_precedence(node.operator)
            if node.operator == "**":  # associates to the right, and its exponent may be -x
                return f"{self.print(node.left, POSTFIX)} ** {self.print(node.right, NEGATION)}"
            return f"{self.print(node.left, level)} {node.operator} {self.print(node.right, level + 1)}"

        if isinstance(node, Logical):
            level = precedence(node)
            return f"{self.print(node.left, level)} {node.operator} {self.print(node.right, level + 1)}"

        if isinstance(node, Compare):
            parts = [self.print(node.operands[0], SUM)]
            for operator, operand in zip(node.operators, node.operands[1:]):
                parts += [operator, self.print(operand, SUM)]
            return " ".join(parts)

        condition = self.print(node.condition, OR)
        return f"{condition} ? {self.print(node.then, OR)} : {self.print(node.otherwise, CONDITIONAL)}"

    def _compound(self, node: Call | Method | Index | ListOf | TupleOf) -> str:
        if isinstance(node, Call):
            return f"{node.function}({self._list(node.arguments)})"

        if isinstance(node, Method):
            target = self.print(node.target, POSTFIX)
            if isinstance(node.target, Number):
                target = f"({target})"
            arguments = "" if node.arguments is None else f"({self._list(node.arguments)})"
            return f"{target}.{node.name}{arguments}"

        if isinstance(node, Index):
            return f"{self.print(node.target, POSTFIX)}[{self.print(node.index)}]"
        if isinstance(node, ListOf):
            return f"[{self._list(node.items)}]"

        comma = "," if len(node.items) == 1 else ""
        return f"({self._list(node.items)}{comma})"

    def _list(self, items: tuple[Node, ...]) -> str:
        return ", ".join(self.print(item) for item in items)
