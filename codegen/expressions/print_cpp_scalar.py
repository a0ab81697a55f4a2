"""Prints ``expr:`` as C++ for one element or SIMD lane, without branches, so that loops over it vectorize."""

from __future__ import annotations

import math
from collections.abc import Mapping

from codegen.expressions import nodes
from codegen.expressions.complex_numbers import is_real
from codegen.expressions.errors import ExpressionError
from codegen.expressions.functions import CONSTANTS, FUNCTIONS
from codegen.expressions.nodes import Call, Node

# x ** n is written as a product of x up to this n when x is a name.
_LARGEST_PRODUCT = 4


# Arithmetic in which integers wrap around (aten/vec/wrapping.h).
_WRAPPING = {"+": "wrapping_sum", "-": "wrapping_difference", "*": "wrapping_product"}


# The type of real numbers where ``opmath_t`` may be complex.
REAL_TYPE = "real_t"


def cpp_expr(
    node: Node,
    rename: Mapping[str, str] | None = None,
    type: str = "opmath_t",
    wraps: bool = False,
    complex_names: frozenset[str] = frozenset(),
) -> str:
    """``node`` over locals of C++ type ``type``, called as the arguments unless ``rename`` says otherwise.

    With ``wraps``, ``type`` may be a signed integer, whose sums and products wrap around. With
    ``complex_names``, these locals are of ``type``, and what is real in spite of them is of ``real_t``.

    Truth values print as ``bool``; used as numbers they are converted. Functions are ``at::vec::NAME``
    (aten/vec/math.h).
    """
    printer = _ScalarPrinter(rename or {}, type, wraps)
    if complex_names:
        printer = _ComplexPrinter(rename or {}, type, wraps, complex_names)
    return printer.condition(node) if is_truth_value(node) else printer.number(node)


def is_truth_value(node: Node) -> bool:
    """Whether ``node`` prints as ``bool``; a name never does, since locals are numbers."""
    if isinstance(node, (nodes.Compare, nodes.Logical, nodes.Boolean)):
        return True
    if isinstance(node, nodes.Unary):
        return node.operator == "not"
    if isinstance(node, nodes.Conditional):
        return is_truth_value(node.then) and is_truth_value(node.otherwise)
    if isinstance(node, Call):
        if node.function == "where" and len(node.arguments) == 3:
            return all(map(is_truth_value, node.arguments[1:]))
        return node.function in FUNCTIONS and FUNCTIONS[node.function].boolean
    return False


def prints_as_product(node: nodes.Binary) -> bool:
    """Whether the power ``node`` prints as a product of its base, a name."""
    exponent = _whole_number(node.right)
    return isinstance(node.left, nodes.Name) and exponent is not None and 0 < exponent <= _LARGEST_PRODUCT


class _ScalarPrinter:
    def __init__(self, rename: Mapping[str, str], type: str, wraps: bool) -> None:
        self.rename = rename
        self.type = type
        self.wraps = wraps

    def number(self, node: Node, at_least: int = 0) -> str:
        """A value of the computation type."""

        if is_truth_value(node):
            return f"{self.type}({self.condition(node)})"
        if isinstance(node, nodes.Unary):
            if self.wraps:
                return self.call("wrapping_negative", node.operand)
            return nodes.parenthesized(f"-{self.number(node.operand, nodes.POWER)}", node, at_least)

        if self.wraps and isinstance(node, nodes.Binary) and node.operator in _WRAPPING:
            return self.call(_WRAPPING[node.operator], node.left, node.right)
        if isinstance(node, nodes.Binary) and node.operator in ("+", "-", "*", "/"):
            level = nodes.binary_precedence(node.operator)
            text = f"{self.number(node.left, level)} {node.operator} {self.number(node.right, level + 1)}"
            return nodes.parenthesized(text, node, at_least)

        if isinstance(node, nodes.Binary):
            return (
                self.power(node) if node.operator == "**" else self.call("remainder", node.left, node.right)
            )

        if isinstance(node, nodes.Conditional):
            return self.choice(node.condition, node.then, node.otherwise)

        if isinstance(node, Call):
            if node.function == "where":
                return self.choice(*node.arguments)
            if node.function == "pow":
                return self.power(nodes.Binary("**", node.arguments[0], node.arguments[1]))
            return self.call(node.function, *node.arguments)

        return self.leaf(node)

    def leaf(self, node: Node) -> str:
        if isinstance(node, nodes.Number):
            return f"{self.type}({number_literal(node.value)})"
        if isinstance(node, nodes.Name):
            if node.name in self.rename:
                return self.rename[node.name]
            return (
                f"{self.type}({number_literal(CONSTANTS[node.name])})"
                if node.name in CONSTANTS
                else node.name
            )
        raise ExpressionError(f"'{nodes.to_source(node)}' is not a number", node.offset)

    def call(self, name: str, *arguments: Node) -> str:
        return f"at::vec::{name}({', '.join(self.number(argument) for argument in arguments)})"

    def choice(self, condition: Node, then: Node, otherwise: Node) -> str:
        return f"({self.condition(condition)} ? {self.number(then)} : {self.number(otherwise)})"

    def power(self, node: nodes.Binary) -> str:
        """A product for a whole exponent, otherwise pow."""
        exponent = _whole_number(node.right)

        if exponent is None:
            if isinstance(node.right, nodes.Number) and node.right.value == 0.5:
                return self.call("sqrt", node.left)
            return self.call("pow", node.left, node.right)

        if exponent == 0:
            return f"{self.type}(1)"

        base = self.number(node.left, nodes.POSTFIX)
        if isinstance(node.left, nodes.Name) and abs(exponent) <= _LARGEST_PRODUCT:
            text = self.product(base, abs(exponent))
        else:
            text = f"at::vec::integer_power<{abs(exponent)}>({self.number(node.left)})"

        return text if exponent > 0 else f"({self.type}(1) / {text})"

    def product(self, base: str, count: int) -> str:
        if count == 1:
            return base
        if not self.wraps:
            return f"({' * '.join([base] * count)})"

        text = base
        for _ in range(count - 1):
            text = f"at::vec::{_WRAPPING['*']}({text}, {base})"
        return text

    def condition(self, node: Node) -> str:
        """A ``bool``, with ``&`` and ``|`` because ``&&`` and ``||`` would branch."""

        if isinstance(node, nodes.Compare):
            parts = []
            for operator, left, right in zip(node.operators, node.operands, node.operands[1:]):
                parts.append(f"({self.number(left, nodes.SUM)} {operator} {self.number(right, nodes.SUM)})")
            return parts[0] if len(parts) == 1 else f"({' & '.join(parts)})"

        if isinstance(node, nodes.Logical):
            symbol = "&" if node.operator == "and" else "|"
            return f"({self.condition(node.left)} {symbol} {self.condition(node.right)})"
        if isinstance(node, nodes.Unary) and node.operator == "not":
            return f"!{self.condition(node.operand)}"

        if isinstance(node, nodes.Boolean):
            return "true" if node.value else "false"
        if not is_truth_value(node):
            return f"({self.number(node, nodes.SUM)} != {self.type}(0))"

        if isinstance(node, nodes.Conditional):
            node = Call("where", (node.condition, node.then, node.otherwise))
        assert isinstance(node, Call), f"no truth value: {nodes.to_source(node)}"

        if node.function == "where":
            condition, then, otherwise = map(self.condition, node.arguments)
            return f"({condition} ? {then} : {otherwise})"

        return self.call(node.function, *node.arguments)


class _ComplexPrinter(_ScalarPrinter):
    """Prints real parts in the type of real numbers, which C++ converts where complex ones are added."""

    def __init__(
        self, rename: Mapping[str, str], type: str, wraps: bool, complex_names: frozenset[str]
    ) -> None:
        super().__init__(rename, REAL_TYPE, wraps)
        self.complex_type = type
        self.complex_names = complex_names

    def call(self, name: str, *arguments: Node) -> str:
        are_real = [is_real(argument, self.complex_names) for argument in arguments]
        if name not in FUNCTIONS or all(are_real) or not any(are_real):
            return super().call(name, *arguments)
        # The overloads of functions take numbers of one type.
        texts = (self.number(argument) for argument in arguments)
        values = (f"{self.complex_type}({t})" if is_one else t for t, is_one in zip(texts, are_real))
        return f"at::vec::{name}({', '.join(values)})"


def _whole_number(node: Node) -> int | None:
    """The value of ``2``, ``-2`` or ``2.0``, up to 64."""
    if isinstance(node, nodes.Unary) and node.operator == "-":
        value = _whole_number(node.operand)
        return None if value is None else -value
    if isinstance(node, nodes.Number) and abs(node.value) <= 64 and node.value == int(node.value):
        return int(node.value)
    return None


def number_literal(value: int | float) -> str:
    """A C++ literal of the same value."""
    if isinstance(value, float) and not math.isfinite(value):
        limits = "std::numeric_limits<double>"
        return (
            f"{limits}::quiet_NaN()"
            if math.isnan(value)
            else f"{'-' if value < 0 else ''}{limits}::infinity()"
        )
    if isinstance(value, int) and value > 2**31 - 1:
        return f"INT64_C({value})"
    return repr(value)
