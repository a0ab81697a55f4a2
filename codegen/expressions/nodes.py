"""The nodes of an expression tree, and how it prints back to text.

Every node is frozen and compares by meaning: ``offset`` (where it starts in the text) takes no part in
equality. A node remembers its hash, so that trees are cheap keys for caches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import is_
from typing import Any

from codegen.remembered import recently, remembered


def _offset() -> int:
    return field(default=0, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Number:
    """A number as written; ``2`` and ``2.0`` are different numbers because they promote differently."""

    value: int | float
    offset: int = _offset()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Number):
            return NotImplemented
        return type(self.value) is type(other.value) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))


@dataclass(frozen=True)
class String:
    """``"mean"``."""

    value: str
    offset: int = _offset()


@dataclass(frozen=True)
class Boolean:
    """``true`` or ``false``."""

    value: bool
    offset: int = _offset()


@dataclass(frozen=True)
class Nothing:
    """``none``: an optional argument that is not given."""

    offset: int = _offset()


@dataclass(frozen=True)
class Name:
    """An argument, or a name such as ``grad`` and ``result``."""

    name: str
    offset: int = _offset()


@dataclass(frozen=True)
class Unary:
    """``-x`` or ``not x``."""

    operator: str
    operand: Node
    offset: int = _offset()


@dataclass(frozen=True)
class Binary:
    """Arithmetic ``+ - * / % **``; ``offset`` is where the left operand starts."""

    operator: str
    left: Node
    right: Node
    offset: int = _offset()


@dataclass(frozen=True)
class Logical:
    """``and`` / ``or``."""

    operator: str
    left: Node
    right: Node
    offset: int = _offset()


@dataclass(frozen=True)
class Compare:
    """A chain ``a < b <= c``: one more operand than operators. Also ``in`` and ``not in``."""

    operators: tuple[str, ...]
    operands: tuple[Node, ...]
    offset: int = _offset()


@dataclass(frozen=True)
class Conditional:
    """``condition ? then : otherwise``."""

    condition: Node
    then: Node
    otherwise: Node
    offset: int = _offset()


@dataclass(frozen=True)
class Call:
    """``function(a, b)``."""

    function: str
    arguments: tuple[Node, ...]
    offset: int = _offset()


@dataclass(frozen=True)
class Method:
    """``target.name(arguments)``, or the property ``target.name`` when ``arguments`` is None."""

    target: Node
    name: str
    arguments: tuple[Node, ...] | None
    offset: int = _offset()


@dataclass(frozen=True)
class Index:
    """``target[index]``."""

    target: Node
    index: Node
    offset: int = _offset()


@dataclass(frozen=True)
class ListOf:
    """``[a, b]``."""

    items: tuple[Node, ...]
    offset: int = _offset()


@dataclass(frozen=True)
class TupleOf:
    """``(a, b)``: what a formula for several inputs returns."""

    items: tuple[Node, ...]
    offset: int = _offset()


for _kind in (
    Number,
    String,
    Boolean,
    Nothing,
    Name,
    Unary,
    Binary,
    Logical,
    Compare,
    Conditional,
    Call,
    Method,
    Index,
    ListOf,
    TupleOf,
):
    _kind.__hash__ = remembered(_kind.__hash__)  # type: ignore[assignment, method-assign]

Node = (
    Number
    | String
    | Boolean
    | Nothing
    | Name
    | Unary
    | Binary
    | Logical
    | Compare
    | Conditional
    | Call
    | Method
    | Index
    | ListOf
    | TupleOf
)


# Dispatch by type, as these run more often than anything else.
_CHILDREN: dict[type, Callable[[Any], tuple[Node, ...]]] = {
    Unary: lambda node: (node.operand,),
    Binary: lambda node: (node.left, node.right),
    Logical: lambda node: (node.left, node.right),
    Compare: lambda node: node.operands,
    Conditional: lambda node: (node.condition, node.then, node.otherwise),
    Call: lambda node: node.arguments,
    Method: lambda node: (node.target, *(node.arguments or ())),
    Index: lambda node: (node.target, node.index),
    ListOf: lambda node: node.items,
    TupleOf: lambda node: node.items,
}


def children(node: Node) -> tuple[Node, ...]:
    """The direct parts of a node, left to right."""
    parts_of = _CHILDREN.get(type(node))
    return () if parts_of is None else parts_of(node)


def rebuild(node: Node, function: Callable[[Node], Node]) -> Node:
    """The same node with ``function`` applied to each direct part.

    It is ``node`` itself if no part changes, so that what was remembered of it is still known.
    """
    if isinstance(node, (Name, Number)):
        return node

    before = children(node)
    after = tuple(map(function, before))
    return node if all(map(is_, before, after)) else _WITH_CHILDREN[type(node)](node, after)


_WITH_CHILDREN: dict[type, Callable[[Any, tuple[Node, ...]], Node]] = {
    Unary: lambda node, parts: Unary(node.operator, parts[0], offset=node.offset),
    Binary: lambda node, parts: Binary(node.operator, parts[0], parts[1], offset=node.offset),
    Logical: lambda node, parts: Logical(node.operator, parts[0], parts[1], offset=node.offset),
    Compare: lambda node, parts: Compare(node.operators, parts, offset=node.offset),
    Conditional: lambda node, parts: Conditional(parts[0], parts[1], parts[2], offset=node.offset),
    Call: lambda node, parts: Call(node.function, parts, offset=node.offset),
    Method: lambda node, parts: Method(
        parts[0], node.name, None if node.arguments is None else parts[1:], offset=node.offset
    ),
    Index: lambda node, parts: Index(parts[0], parts[1], offset=node.offset),
    ListOf: lambda node, parts: ListOf(parts, offset=node.offset),
    TupleOf: lambda node, parts: TupleOf(parts, offset=node.offset),
}


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
    return rebuild(node, lambda part: substitute(part, values))


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
    return _printed(node)


@remembered
def _printed(node: Node) -> str:
    return _SourcePrinter().print_whole(node)


class _SourcePrinter:
    def print(self, node: Node, at_least: int = 0) -> str:
        return parenthesized(_printed(node), node, at_least)

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
