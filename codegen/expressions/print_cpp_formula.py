"""Prints derivative formulas as C++ over ``at::Tensor``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from codegen.dtypes import DTYPE_CONSTANTS, DTYPES
from codegen.expressions import nodes
from codegen.expressions.functions import CONSTANTS, CONSTRUCTS, FUNCTIONS, MIRRORED
from codegen.expressions.nodes import Call, Compare, Node
from codegen.expressions.print_cpp_scalar import number_literal
from codegen.expressions.scope import TENSOR, TENSORS, OperatorLike, ProgramLike, Scope, kind_of_type, resolve
from codegen.schema import Argument

# Functions of plain numbers that <cmath> has under another name; the others keep theirs.
_STD_NAMES = {
    "maximum": "max",
    "minimum": "min",
    "max": "max",
    "min": "min",
    "abs": "abs",
    "round": "nearbyint",
}
_STD = frozenset(
    "exp exp2 expm1 log log1p log2 log10 sqrt pow hypot sin cos tan asin acos atan atan2 sinh cosh tanh "
    "asinh acosh atanh "
    "erf erfc lgamma floor ceil trunc fmod isnan isinf".split()
) | frozenset(_STD_NAMES)


def cpp_formula(
    node: Node,
    operator: OperatorLike,
    program: ProgramLike | None = None,
    rename: Mapping[str, str] | None = None,
) -> str:
    """``node`` as one C++ expression.

    ``rename`` maps a name or the source of a property (``self.sizes()``, ``grads[0]``) to the local that
    holds it; see ``Needs.rename``. With ``program``, calls are printed for the overload that they resolve to.
    A tuple becomes a ``std::make_tuple``. Arithmetic of ``c10::Scalar`` values uses operators and functions
    of c10/core/ScalarMath.h.
    """
    return CppFormulaPrinter(Scope(operator, program), rename or {}).print(node)


class CppFormulaPrinter:
    def __init__(self, scope: Scope, rename: Mapping[str, str]) -> None:
        self.scope = scope
        self.rename = rename

    def print(self, node: Node, at_least: int = 0) -> str:
        if type(node) is nodes.Number:
            return number_literal(node.value)
        if self.rename and not isinstance(node, nodes.String):
            renamed = self.rename.get(nodes.to_source(node))
            if renamed is not None:
                return renamed

        if isinstance(node, nodes.Binary):
            return self.binary(node, at_least)
        if isinstance(node, nodes.Unary):
            return self.unary(node, at_least)
        if isinstance(node, Compare):
            return self.comparison(node)
        if isinstance(node, nodes.Logical):
            return self.logical(node)
        if isinstance(node, nodes.Conditional):
            condition = self.print(node.condition)
            return f"({condition} ? {self.print(node.then)} : {self.print(node.otherwise)})"

        if isinstance(node, Call):
            return self.call(node)
        if isinstance(node, (nodes.Method, nodes.Index)):
            return self.access(node)
        return self.literal(node)

    def literal(self, node: Node) -> str:
        if isinstance(node, nodes.Name):
            return self.name(node)
        if isinstance(node, nodes.Boolean):
            return "true" if node.value else "false"
        if isinstance(node, nodes.String):
            return json.dumps(node.value)

        if isinstance(node, nodes.TupleOf):
            return f"std::make_tuple({', '.join(self.print(item) for item in node.items)})"
        if isinstance(node, nodes.ListOf):
            return self.list_of(node.items, self.scope.kind(node))
        return "at::Tensor()"

    def name(self, node: nodes.Name) -> str:
        if self.scope.argument(node.name) is None:
            if node.name in CONSTANTS:
                return number_literal(CONSTANTS[node.name])
            if node.name in DTYPES:
                return f"at::{DTYPE_CONSTANTS[node.name]}"
        return node.name

    def value(self, node: Node, at_least: int = 0) -> str:
        """An operand of arithmetic: an optional number gives its value."""
        text = self.print(node, at_least)
        is_number = self.scope.is_optional(node) and self.scope.kind(node) != TENSOR
        return f"{text}.value()" if is_number else text

    # Arithmetic

    def binary(self, node: nodes.Binary, at_least: int) -> str:
        kinds = [self.scope.kind(node.left), self.scope.kind(node.right)]

        if node.operator in ("+", "-", "*", "/"):
            level = nodes.binary_precedence(node.operator)
            left = self.value(node.left, level)
            right = self.value(node.right, level + 1)
            if node.operator == "/" and set(kinds) <= {"int", "bool"}:
                left = _as_double(node.left, left)
            return nodes.parenthesized(f"{left} {node.operator} {right}", node, at_least)

        name = CONSTRUCTS[node.operator]
        left = self.value(node.left)
        right = self.value(node.right)

        if TENSOR in kinds:
            return f"at::{name}({left}, {right})"
        if "Scalar" in kinds:
            return f"c10::{name}({left}, {right})"

        if node.operator == "**":
            return self.whole_power(node) or f"std::pow({left}, {right})"
        return f"at::vec::remainder({left}, {right})"

    def whole_power(self, node: nodes.Binary) -> str | None:
        """``n ** 2`` of whole numbers stays whole."""
        exponent = node.right.value if isinstance(node.right, nodes.Number) else 0
        if self.scope.kind(node.left) != "int" or not isinstance(exponent, int) or not 1 <= exponent <= 4:
            return None
        return f"({' * '.join([self.value(node.left, nodes.POSTFIX)] * exponent)})"

    def unary(self, node: nodes.Unary, at_least: int) -> str:
        is_tensor = self.scope.kind(node.operand) == TENSOR
        if node.operator == "not":
            return (
                f"at::{CONSTRUCTS['not']}({self.print(node.operand)})"
                if is_tensor
                else f"!{self.print(node.operand, nodes.POSTFIX)}"
            )
        return nodes.parenthesized(f"-{self.value(node.operand, nodes.POWER)}", node, at_least)

    # Conditions

    def comparison(self, node: Compare) -> str:
        parts = []
        is_tensor = False

        for operator, left, right in zip(node.operators, node.operands, node.operands[1:]):
            pair = {self.scope.kind(left), self.scope.kind(right)}
            none = [isinstance(part, nodes.Nothing) for part in (left, right)]
            if any(none):
                parts.append(self.none_test(right if none[0] else left, operator))
            elif TENSOR in pair:
                is_tensor = True
                parts.append(self.tensor_comparison(operator, left, right))
            else:
                parts.append(self.plain_comparison(operator, left, right))

        result = parts[0]
        for part in parts[1:]:
            result = f"at::{CONSTRUCTS['and']}({result}, {part})" if is_tensor else f"{result} && {part}"
        return f"({result})" if len(parts) > 1 and not is_tensor else result

    def none_test(self, node: Node, operator: str) -> str:
        method = "defined" if self.scope.kind(node) == TENSOR else "has_value"
        return f"{'!' if operator == '==' else ''}{self.print(node)}.{method}()"

    def tensor_comparison(self, operator: str, left: Node, right: Node) -> str:
        if self.scope.kind(left) != TENSOR:
            left, right = right, left
            operator = MIRRORED[operator]
        return f"at::{CONSTRUCTS[operator]}({self.value(left)}, {self.value(right)})"

    def plain_comparison(self, operator: str, left: Node, right: Node) -> str:
        if operator in ("in", "not in"):
            items = right.items if isinstance(right, nodes.ListOf) else (right,)
            text = " || ".join(self.plain_comparison("==", left, item) for item in items)
            return f"({text})" if operator == "in" else f"!({text})"
        return f"({self.comparable(left)} {operator} {self.comparable(right)})"

    def comparable(self, node: Node) -> str:
        text = self.value(node, nodes.SUM)
        return (
            f"{text}.to_double()"
            if self.scope.kind(node) == "Scalar" and isinstance(node, nodes.Name)
            else text
        )

    def logical(self, node: nodes.Logical) -> str:
        if self.scope.kind(node) == TENSOR:
            return f"at::{CONSTRUCTS[node.operator]}({self.print(node.left)}, {self.print(node.right)})"
        symbol = "&&" if node.operator == "and" else "||"
        return f"({self.print(node.left)} {symbol} {self.print(node.right)})"

    # Calls, methods, indexing

    def call(self, node: Call) -> str:
        if node.function == "len":
            return f"static_cast<int64_t>({self.print(node.arguments[0])}.size())"
        if self.scope.is_scalar_call(node):
            return self.scalar_call(node)

        called = resolve(node, self.scope)
        parameters: Sequence[Argument | None] = (
            called.schema.arguments.flat_non_out if called is not None else ()
        )
        parameters = [*parameters, *[None] * len(node.arguments)]
        arguments = [
            self.argument(argument, parameter) for argument, parameter in zip(node.arguments, parameters)
        ]

        return f"at::{node.function}({', '.join(arguments)})"

    def argument(self, node: Node, parameter: Argument | None) -> str:
        if parameter is None:
            return "{}" if isinstance(node, nodes.Nothing) else self.print(node)
        kind = kind_of_type(parameter.type)
        if isinstance(node, nodes.Nothing):
            return "at::Tensor()" if kind == TENSOR else "nullptr" if kind == "Generator" else "std::nullopt"
        if isinstance(node, nodes.ListOf):
            return self.list_of(node.items, kind)
        if kind.endswith("[]") and not self.scope.kind(node).endswith("[]"):
            return self.list_of((node,), kind)  # int[1] takes one int
        return self.print(node) if parameter.type.is_optional else self.value(node)

    def list_of(self, items: Sequence[Node], kind: str) -> str:
        if kind == "bool[]":
            container = f"std::array<bool, {len(items)}>"
        else:
            container = {
                TENSORS: "at::TensorList",
                "int[]": "at::IntArrayRef",
                "float[]": "at::ArrayRef<double>",
                "Scalar[]": "at::ArrayRef<at::Scalar>",
            }.get(kind, "")
        return container + "{" + ", ".join(self.value(item) for item in items) + "}"

    def scalar_call(self, node: Call) -> str:
        if node.function == "where":
            condition, then, otherwise = node.arguments
            return self.print(nodes.Conditional(condition, then, otherwise))

        kind = self.scope.join(node.arguments)
        texts = [self.value(argument) for argument in node.arguments]
        if node.function in ("conj", "real") and kind != "Scalar":
            return texts[0]

        if node.function == "conj":
            return f"{self.value(node.arguments[0], nodes.POSTFIX)}.conj()"
        if kind == "Scalar":
            return f"c10::{node.function}({', '.join(texts)})"

        if node.function not in _STD:
            prefix = "at::vec::" + node.function
            return f"{prefix}({', '.join(_as_double(a, t) for a, t in zip(node.arguments, texts))})"

        name = _STD_NAMES.get(node.function, node.function)
        if name in ("max", "min"):
            return f"std::{name}<{'int64_t' if kind in ('int', 'bool') else 'double'}>({', '.join(texts)})"

        function = FUNCTIONS.get(node.function)
        if function is not None and function.float_result:
            texts = [
                _as_double(a, t) if self.scope.kind(a) != "float" else t
                for a, t in zip(node.arguments, texts)
            ]

        return f"std::{name}({', '.join(texts)})"

    def access(self, node: nodes.Method | nodes.Index) -> str:
        target = self.print(node.target, nodes.POSTFIX)

        if isinstance(node, nodes.Index):
            if isinstance(node.target, Call):
                called = resolve(node.target, self.scope)
                if called is not None and len(called.schema.returns) > 1:
                    return f"std::get<{self.print(node.index)}>({target})"

            if (
                node.target == nodes.Name("grads") and len(self.scope.schema.returns) > 1
            ):  # checked with the formula
                return f"{target}[{self.print(node.index)}]"
            return f"at::element_of({self.value(node.target, nodes.POSTFIX)}, {self.value(node.index)})"

        arguments = ", ".join(self.print(argument) for argument in node.arguments or ())
        if self.scope.kind(node.target) == TENSORS and node.name == "size":
            return f"at::sizes_along({target}, {arguments})"

        if node.name == "options":
            return f"at::options_of({target})"
        if isinstance(node.target, (nodes.Unary, nodes.Binary)):
            target = f"({self.print(node.target)})"

        return f"{target}.{node.name}({arguments})"


def _as_double(node: Node, text: str) -> str:
    if isinstance(node, nodes.Number):
        return number_literal(float(node.value))
    return f"static_cast<double>({text})"
