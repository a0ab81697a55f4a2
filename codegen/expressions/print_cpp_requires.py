"""Prints requirements as C++ conditions over the arguments of an operator."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from codegen.dtypes import DTYPE_ALIASES, DTYPE_CONSTANTS
from codegen.expressions import nodes
from codegen.expressions.nodes import Call, Compare, Node
from codegen.expressions.print_cpp_formula import CppFormulaPrinter
from codegen.expressions.print_text import requirement_text
from codegen.expressions.scope import (
    DTYPE_TESTS,
    OF_TWO_TENSORS,
    REQUIREMENT_FUNCTIONS,
    TENSOR,
    OperatorLike,
    RequirementScope,
    Scope,
)


class CppRequirement(NamedTuple):
    """A requirement in C++: the condition, and what its error message shows.

    Each value is a label in Python's notation (``self.dim()``) and a C++ expression for TORCH_CHECK to print.
    """

    condition: str
    expected: str
    values: tuple[tuple[str, str], ...]

    def message_parts(self) -> list[str]:
        """The arguments of a TORCH_CHECK: string literals and values in turn.

        For example: ``expected self.dim() == 2, but got self.dim() = 3``.
        """
        parts = [f'"expected {_escaped(self.expected)}']
        for position, (label, value) in enumerate(self.values):
            parts[-1] += f'{", but got" if position == 0 else ","} {_escaped(label)} = "'
            parts += [value, '"']
        parts[-1] += '"'
        return [part for part in parts if part != '""']


_OF_TWO_TENSORS = {
    "broadcast": "IntArrayRef(broadcast_sizes({0}.sizes(), {1}.sizes()))",
    "same": "{0}.is_same({1})",
    "no_partial_overlap": "memory_overlap({0}, {1}) != Overlap::Partial",
}


def cpp_requirement(
    node: Node, operator: OperatorLike, dtype_sets: Mapping[str, Collection[str]] | None = None
) -> CppRequirement:
    """The requirement ``node`` over the arguments of ``operator``.

    ``dtype_sets`` gives the canonical dtype names of each set. Missing optional arguments satisfy every
    requirement, unless it asks whether they are given.
    """
    printer = _RequirementPrinter(RequirementScope(operator), dtype_sets or {})
    condition = printer.print(node)
    guards = printer.guards(node)
    if guards:
        condition = " || ".join([*guards, condition])
    else:
        condition = _without_outer_parentheses(condition)
    return CppRequirement(condition, printer.text(node), printer.values(node))


def cpp_requirement_value(node: Node, operator: OperatorLike) -> str:
    """A value that a message shows, such as ``size(self, 1)``, in C++."""
    return _RequirementPrinter(RequirementScope(operator), {}).value(node)


class _RequirementPrinter(CppFormulaPrinter):
    def __init__(self, scope: Scope, dtype_sets: Mapping[str, Collection[str]]) -> None:
        super().__init__(scope, {})
        self.dtype_sets = dtype_sets

    def text(self, node: Node) -> str:
        """The condition with the argument names of the schema, which may differ from those in C++."""
        spelled = {
            a.name: nodes.Name(a.spelling) for a in self.scope.schema.arguments if a.spelling != a.name
        }
        return requirement_text(nodes.substitute(node, spelled))

    def guards(self, node: Node) -> list[str]:
        asked = self.asked(node)
        optional = [
            name
            for name in nodes.names(node)
            if self.scope.is_optional(nodes.Name(name)) and name not in asked
        ]
        return [self.none_test(nodes.Name(name), "==") for name in optional]

    def asked(self, node: Node) -> set[str]:
        """The arguments for which the requirement asks whether they are given."""
        tests = [part for part in nodes.walk(node) if _asks_whether_given(part)]
        return {part.name for test in tests for part in nodes.children(test) if isinstance(part, nodes.Name)}

    def none_test(self, node: Node, operator: str) -> str:
        argument = self.scope.argument(node.name) if isinstance(node, nodes.Name) else None
        if argument is not None and argument.type.base.name == "Generator":
            return f"{argument.name} {operator} nullptr"
        return super().none_test(node, operator)

    def call(self, node: Call) -> str:
        if node.function in REQUIREMENT_FUNCTIONS:
            return self.property(node)

        if node.function == "all":
            return self.all_of(node.arguments[0])

        if node.function in ("min", "max"):
            if len(node.arguments) == 1:
                container = self.value(node.arguments[0])
                return f"*std::{node.function}_element({container}.begin(), {container}.end())"
            return f"std::{node.function}<int64_t>({{{', '.join(map(self.value, node.arguments))}}})"

        if node.function == "promote":
            return f"c10::promote_types({', '.join(map(self.value, node.arguments))})"

        if node.function == "len":
            return f"static_cast<int64_t>({self.value(node.arguments[0])}.size())"

        return super().call(node)

    def binary(self, node: nodes.Binary, at_least: int) -> str:
        """``%`` of whole numbers is that of C++: sizes and counts are not negative."""
        if node.operator == "%" and self.scope.kind(node) == "int":
            left = self.value(node.left, nodes.POSTFIX)
            return f"({left} % {self.value(node.right, nodes.POSTFIX)})"
        return super().binary(node, at_least)

    def property(self, node: Call) -> str:
        target = self.print(node.arguments[0], nodes.POSTFIX)

        if node.function == "no_internal_overlap":
            return f"!has_internal_overlap({target})"

        if node.function in OF_TWO_TENSORS:
            other = self.print(node.arguments[1], nodes.POSTFIX)
            return _OF_TWO_TENSORS[node.function].format(target, other)

        if node.function in DTYPE_TESTS:
            kind = self.scope.kind(node.arguments[0])
            dtype = {
                "ScalarType": self.value(node.arguments[0]),
                "Scalar": f"{self.value(node.arguments[0], nodes.POSTFIX)}.type()",
            }.get(kind, f"{target}.scalar_type()")
            bool_is_left_out = ", /*include_bool=*/false" if node.function == "is_integral" else ""
            return f"c10::{node.function}({dtype}{bool_is_left_out})"

        method = "scalar_type" if node.function == "dtype" else node.function
        return f"{target}.{method}({', '.join(map(self.value, node.arguments[1:]))})"

    def all_of(self, node: Node) -> str:
        """Whether a comparison such as ``stride > 0`` holds for every element of the list in it."""
        assert isinstance(node, Compare), "check_requires asks for a comparison"
        compared = next(o for o in node.operands if self.is_list(o))
        operands = tuple(nodes.Name("element") if o == compared else o for o in node.operands)
        comparison = Compare(node.operators, operands)
        container = self.value(compared)
        return (
            f"std::all_of({container}.begin(), {container}.end(), [&](auto element) {{ return "
            f"{self.print(comparison)}; }})"
        )

    def is_list(self, node: Node) -> bool:
        if isinstance(node, Call):
            return node.function == "sizes"
        return self.scope.kind(node).endswith("[]")

    def plain_comparison(self, operator: str, left: Node, right: Node) -> str:
        is_dtype = isinstance(left, Call) and left.function == "dtype"

        if is_dtype and operator in ("in", "not in"):
            items = right.items if isinstance(right, nodes.ListOf) else (right,)
            names = [item.name for item in items if isinstance(item, nodes.Name)]
            dtypes = dict.fromkeys(dtype for name in names for dtype in self.dtypes(name))

            value = self.print(left)
            text = " || ".join(f"{value} == at::{DTYPE_CONSTANTS[dtype]}" for dtype in dtypes) or "false"
            return f"({text})" if operator == "in" else f"!({text})"

        if is_dtype and isinstance(right, nodes.Name):
            (dtype,) = self.dtypes(right.name)
            return f"({self.print(left)} {operator} at::{DTYPE_CONSTANTS[dtype]})"

        if isinstance(right, nodes.ListOf) and operator not in ("in", "not in"):
            return f"({self.value(left)} {operator} {self.list_of(right.items, 'int[]')})"

        return super().plain_comparison(operator, left, right)

    def dtypes(self, name: str) -> Collection[str]:
        return self.dtype_sets.get(name) or (DTYPE_ALIASES.get(name, name),)

    # Values for the message

    def values(self, node: Node) -> tuple[tuple[str, str], ...]:
        """Labels and values for the message.

        Arguments that may be missing are left out, as the message could not show their sizes.
        """
        found: dict[str, str] = {}
        self.collect(node, found, self.asked(node))
        return tuple(found.items())

    def collect(self, node: Node, found: dict[str, str], hidden: set[str]) -> None:
        """Adds the outermost arguments and tensor properties in ``node`` to ``found``."""
        is_value = not isinstance(node, (Compare, nodes.Logical))
        if _asks_whether_given(node) or (is_value and hidden & set(nodes.names(node))):
            return

        if isinstance(node, Call) and node.function in REQUIREMENT_FUNCTIONS:
            if self.scope.kind(node.arguments[0]) != TENSOR:  # is_floating(dtype): the argument itself
                self.collect(node.arguments[0], found, hidden)
                return

            if REQUIREMENT_FUNCTIONS[node.function][1] == "bool" and node.function not in DTYPE_TESTS:
                return  # about memory, which is not shown

            shown = Call("dtype", node.arguments) if node.function in DTYPE_TESTS else node
            found.setdefault(self.text(shown), self.property(shown))
            for argument in node.arguments[1:]:
                self.collect(argument, found, hidden)

        elif isinstance(node, Call) and node.function == "len":
            found.setdefault(self.text(node), self.call(node))

        elif isinstance(node, nodes.Name):
            named = self.scope.argument(node.name)
            if named is not None and self.scope.kind(node) != TENSOR and named.type.base.name != "Generator":
                found.setdefault(self.text(node), self.value(node))

        else:
            for child in nodes.children(node):
                self.collect(child, found, hidden)


def _asks_whether_given(node: Node) -> bool:
    if isinstance(node, Call):
        return node.function == "defined"
    return isinstance(node, Compare) and any(isinstance(operand, nodes.Nothing) for operand in node.operands)


def _without_outer_parentheses(text: str) -> str:
    """``(a == b)`` as ``a == b``; ``(a) && (b)`` stays."""
    depth = 0
    for position, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[1:-1] if text[0] == "(" and position == len(text) - 1 else text
    return text


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
