"""Prints formulas and pointwise expressions as Python over ``torch``, and over NumPy for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from codegen.dtypes import DTYPES
from codegen.expressions import nodes
from codegen.expressions.errors import ExpressionError
from codegen.expressions.functions import CONSTANTS, CONSTRUCTS, FUNCTIONS
from codegen.expressions.nodes import Call, Compare, Node
from codegen.expressions.print_cpp_scalar import is_truth_value
from codegen.expressions.rows import COUNT, REDUCTIONS, is_reduction
from codegen.expressions.scope import TENSOR, TENSORS, OperatorLike, ProgramLike, Scope, resolve
from codegen.expressions.to_formula import to_formula

# How Python calls a function of a formula, given the operator that it is, if any: ``torch.linalg.det``. None:
# as a method of its first argument.
Place = Callable[[str, OperatorLike | None], str | None]

# What the source printed by ``numpy_expr`` expects to find.
NUMPY_IMPORTS = "import numpy as np\nfrom codegen.expressions import numpy_special as special\n"


def numpy_expr(node: Node, rename: Mapping[str, str] | None = None) -> str:
    """``expr:`` as NumPy over names of the arguments; needs ``NUMPY_IMPORTS``."""
    return _NumpyPrinter(rename or {}).print(node)


def numpy_row_expr(node: Node, operator: OperatorLike, is_reduced: bool) -> str:
    """``expr:`` over rows as NumPy: an expression over the arguments, ``dim`` among them."""
    first = operator.schema.arguments.tensors[0].spelling
    if len(operator.schema.arguments.tensors) > 1:
        first = f"np.broadcast({', '.join(a.spelling for a in operator.schema.arguments.tensors)})"
    count = f"np.sum(np.ones(np.shape({first})), axis=axis, keepdims=True)"
    if len(operator.schema.arguments.tensors) > 1:
        count = f"np.sum(np.ones({first}.shape), axis=axis, keepdims=True)"
    value = _NumpyPrinter({COUNT: count}).print(node)
    if is_reduced:
        value = f"(lambda kept: kept if keepdim else np.squeeze(kept, axis=axis))({value})"

    dim = operator.schema.arguments.find("dim")
    assert dim is not None
    axis = (
        "dim"
        if not dim.type.is_list
        else "tuple(np.ravel(dim)) if dim is not None and np.size(dim) else None"
    )
    axis = f"({axis}) if {first}.ndim else None"
    return f"(lambda axis: {value})({axis})"


def torch_expr(node: Node, operator: OperatorLike, module: str = "torch") -> str:
    """``expr:`` as calls of ``torch.``: what the compiler and reference tests of composites use."""
    return python_formula(to_formula(node, operator), operator, None, module)


def python_formula(
    node: Node,
    operator: OperatorLike,
    program: ProgramLike | None = None,
    module: str = "torch",
    rename: Mapping[str, str] | None = None,
    place: Place | None = None,
) -> str:
    """A derivative formula as Python.

    ``program`` tells which arguments of the operators are keyword-only, and ``place`` where these are, if not
    all in ``module``.
    """
    scope = Scope(operator, program)
    return _FormulaPrinter(scope, module, rename or {}, place or _functions_of(module)).print(node)


def _functions_of(module: str) -> Place:
    """All operators are functions of ``module``, but for those without a function."""

    def place(name: str, called: OperatorLike | None) -> str | None:
        return f"{module}.{name}" if called is None or getattr(called, "is_function", True) else None

    return place


class _NumpyPrinter:
    def __init__(self, rename: Mapping[str, str]) -> None:
        self.rename = rename

    def print(self, node: Node, at_least: int = 0) -> str:

        if isinstance(node, nodes.Unary) and node.operator == "-":
            return nodes.parenthesized(f"-{self.print(node.operand, nodes.NEGATION)}", node, at_least)
        if isinstance(node, nodes.Binary):
            return self.binary(node, at_least)
        if isinstance(node, (Compare, nodes.Logical, nodes.Unary)):
            return self.condition(node)

        if isinstance(node, nodes.Conditional):
            return self.choice(node.condition, node.then, node.otherwise)

        if isinstance(node, Call):
            if node.function == "where":
                return self.choice(*nodes.children(node))
            return self.call(node, at_least)

        return self.leaf(node)

    def leaf(self, node: Node) -> str:
        if isinstance(node, nodes.Number):
            return nodes.number_text(node.value)
        if isinstance(node, nodes.Boolean):
            return str(node.value)
        if isinstance(node, nodes.Name):
            if node.name in self.rename:
                return self.rename[node.name]
            return f"np.{node.name}" if node.name in CONSTANTS else node.name
        raise ExpressionError(f"'{nodes.to_source(node)}' is not a pointwise formula", node.offset)

    def binary(self, node: nodes.Binary, at_least: int) -> str:
        if node.operator == "**":
            return f"np.power({self.print(node.left)}, {self.print(node.right)})"
        level = nodes.binary_precedence(node.operator)
        text = f"{self.print(node.left, level)} {node.operator} {self.print(node.right, level + 1)}"
        return nodes.parenthesized(text, node, at_least)

    def call(self, node: Call, at_least: int) -> str:
        if is_reduction(node):
            reduction = REDUCTIONS[node.function]
            (argument,) = node.arguments
            text = self.condition(argument) if reduction.boolean else self.print(argument)
            return reduction.numpy.format(text)
        template = FUNCTIONS[node.function].numpy
        is_operation = " / " in template  # 1 / {0}
        arguments = [self.print(argument, nodes.POWER if is_operation else 0) for argument in node.arguments]
        text = template.format(*arguments)
        return f"({text})" if is_operation and at_least > nodes.SUM else text

    def condition(self, node: Node) -> str:
        if isinstance(node, Compare):
            parts = []
            for operator, left, right in zip(node.operators, node.operands, node.operands[1:]):
                parts.append(f"({self.print(left, nodes.SUM)} {operator} {self.print(right, nodes.SUM)})")
            return parts[0] if len(parts) == 1 else f"({' & '.join(parts)})"
        if isinstance(node, nodes.Logical):
            return f"np.logical_{node.operator}({self.condition(node.left)}, {self.condition(node.right)})"
        if isinstance(node, nodes.Unary) and node.operator == "not":
            return f"np.logical_not({self.condition(node.operand)})"
        return self.print(node) if is_truth_value(node) else f"({self.print(node, nodes.SUM)} != 0)"

    def choice(self, *parts: Node) -> str:
        condition, then, otherwise = parts
        return f"np.where({self.condition(condition)}, {self.print(then)}, {self.print(otherwise)})"


class _FormulaPrinter:
    def __init__(self, scope: Scope, module: str, rename: Mapping[str, str], place: Place) -> None:
        self.scope = scope
        self.module = module
        self.rename = rename
        self.place = place

    def print(self, node: Node, at_least: int = 0) -> str:
        if type(node) is nodes.Number:
            return nodes.to_source(node)
        if self.rename and not isinstance(node, nodes.String) and nodes.to_source(node) in self.rename:
            return self.rename[nodes.to_source(node)]
        if type(node) is nodes.Name:
            return self.name(node)

        if isinstance(node, nodes.Conditional):
            then = self.print(node.then, nodes.OR)
            otherwise = self.print(node.otherwise, nodes.CONDITIONAL)
            return nodes.parenthesized(
                f"{then} if {self.print(node.condition, nodes.OR)} else {otherwise}", node, at_least
            )

        if isinstance(node, (nodes.Compare, nodes.Logical, nodes.Unary)) and self.scope.kind(node) == TENSOR:
            return self.tensor_condition(node, at_least)

        if isinstance(node, Compare):
            return nodes.parenthesized(self.comparison(node), node, at_least)
        if isinstance(node, nodes.Logical):
            level = nodes.precedence(node)
            text = f"{self.print(node.left, level)} {node.operator} {self.print(node.right, level + 1)}"
            return nodes.parenthesized(text, node, at_least)

        if isinstance(node, nodes.Unary):
            symbol, level = ("not ", nodes.NOT) if node.operator == "not" else ("-", nodes.NEGATION)
            return nodes.parenthesized(f"{symbol}{self.print(node.operand, level)}", node, at_least)

        if isinstance(node, nodes.Binary):
            level = nodes.binary_precedence(node.operator)
            left, right = (nodes.POSTFIX, nodes.NEGATION) if node.operator == "**" else (level, level + 1)
            text = f"{self.print(node.left, left)} {node.operator} {self.print(node.right, right)}"
            return nodes.parenthesized(text, node, at_least)

        if isinstance(node, Call):
            return self.call(node)
        return self.atom(node)

    def atom(self, node: Node) -> str:
        if isinstance(node, nodes.Method):
            return self.method(node)
        if isinstance(node, nodes.Index):
            return f"{self.print(node.target, nodes.POSTFIX)}[{self.print(node.index)}]"

        if isinstance(node, nodes.ListOf):
            return f"[{', '.join(map(self.print, node.items))}]"
        if isinstance(node, nodes.TupleOf):
            return f"({', '.join(map(self.print, node.items))}{',' if len(node.items) == 1 else ''})"

        if isinstance(node, nodes.Boolean):
            return str(node.value)
        if isinstance(node, nodes.Nothing):
            return "None"

        return nodes.to_source(node)

    def name(self, node: nodes.Name) -> str:
        if self.scope.argument(node.name) is None:
            if node.name in CONSTANTS:
                return f"math.{node.name}"
            if node.name in DTYPES:
                return f"{self.module}.{node.name}"
        return node.name

    def comparison(self, node: Compare) -> str:
        parts = [self.print(node.operands[0], nodes.SUM)]
        for operator, operand in zip(node.operators, node.operands[1:]):
            if isinstance(operand, nodes.Nothing):
                operator = {"==": "is", "!=": "is not"}.get(operator, operator)
            parts += [operator, self.print(operand, nodes.SUM)]
        return " ".join(parts)

    def tensor_condition(self, node: Compare | nodes.Logical | nodes.Unary, at_least: int) -> str:

        if isinstance(node, nodes.Unary):
            if node.operator == "not":
                return f"{self.module}.{CONSTRUCTS['not']}({self.print(node.operand)})"
            return nodes.parenthesized(f"-{self.print(node.operand, nodes.NEGATION)}", node, at_least)

        if isinstance(node, nodes.Logical):
            return (
                f"{self.module}.{CONSTRUCTS[node.operator]}({self.print(node.left)}, "
                f"{self.print(node.right)})"
            )

        parts = []
        for operator, left, right in zip(node.operators, node.operands, node.operands[1:]):
            if self.scope.kind(left) == TENSOR:
                parts.append(f"{self.module}.{CONSTRUCTS[operator]}({self.print(left)}, {self.print(right)})")
            else:
                parts.append(f"({self.print(left, nodes.SUM)} {operator} {self.print(right, nodes.SUM)})")

        result = parts[0]
        for part in parts[1:]:
            result = f"{self.module}.{CONSTRUCTS['and']}({result}, {part})"
        return result

    def method(self, node: nodes.Method) -> str:
        target = self.print(node.target, nodes.POSTFIX)
        arguments = ", ".join(map(self.print, node.arguments or ()))

        if self.scope.kind(node.target) == TENSORS and node.name == "size":
            return f"[tensor.size({arguments}) for tensor in {target}]"
        if node.name == "options":
            return f"dict(dtype={target}.dtype, device={target}.device)"

        special = {
            "sizes": ".shape",
            "strides": ".stride()",
            "scalar_type": ".dtype",
            "device": ".device",
            "defined": " is not None",
        }

        if node.name in special:
            text = f"{target}{special[node.name]}"
            return f"({text})" if node.name == "defined" else text

        return f"{target}.{node.name}({arguments})"

    def call(self, node: Call) -> str:
        arguments = [self.print(argument) for argument in node.arguments]

        if node.function == "len":
            return f"len({arguments[0]})"
        if self.scope.is_scalar_call(node):
            return self.scalar_call(node, arguments)

        called = resolve(node, self.scope)
        if called is not None:
            positional = len(called.schema.arguments.positional)
            keywords = called.schema.arguments.kwarg_only
            arguments[positional:] = [
                f"{k.spelling}={text}" for k, text in zip(keywords, arguments[positional:])
            ]

        place = self.place(node.function, called)
        if place is None:
            return (
                f"{self.print(node.arguments[0], nodes.POSTFIX)}.{node.function}({', '.join(arguments[1:])})"
            )

        return f"{place}({', '.join(arguments)})"

    def scalar_call(self, node: Call, arguments: list[str]) -> str:
        names = {
            "maximum": "max",
            "minimum": "min",
            "max": "max",
            "min": "min",
            "abs": "abs",
            "round": "round",
        }

        if node.function == "where":
            return f"({arguments[1]} if {arguments[0]} else {arguments[2]})"

        if node.function in ("conj", "real"):
            text = self.print(node.arguments[0], nodes.POSTFIX)
            target = (
                f"({text})" if isinstance(node.arguments[0], nodes.Number) else text
            )  # 0.conjugate() does not parse
            return f"{target}{'.conjugate()' if node.function == 'conj' else '.real'}"

        return f"{names.get(node.function, f'math.{node.function}')}({', '.join(arguments)})"
