"""ONNX nodes from the expressions that define pointwise operators, such as `self / (1 + exp(-self))`.

An entry of native_functions.yaml may define its operator by an expression, from which the kernels and the
derivatives are made. The expressions are written in Python's syntax. Here they become ONNX nodes, so a
pointwise operator needs a rule of its own only if ONNX has a node for it.
"""

from __future__ import annotations

import ast
import functools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch_py
from torch_py import _C
from torch_py._generated_files import generated_file
from torch_py.onnx._graph import Graph, Node, Operand, common_dtype
from torch_py.onnx._sizes import Varying


@dataclass(frozen=True)
class Definition:
    """What an entry says about its operator."""

    expression: str
    promotion: str  # how the dtype is found in which the expression is computed


@functools.cache
def _definitions() -> dict[str, Definition]:
    """By the names of all forms: `lerp.Scalar`, `lerp_.Scalar`, `lerp.Scalar_out`."""
    return {
        schema.partition("(")[0]: Definition(row["expr"], row["promotion"])
        for row in json.loads(generated_file("operators.json").read_text())["operators"]
        if row["expr"] and row["structure"] == "pointwise"
        for schema in row["schemas"].values()
    }


def is_defined(overload: str) -> bool:
    """Whether an expression defines the overload, ``lerp.Scalar``."""
    return overload in _definitions()


@dataclass(frozen=True)
class Term:
    """A tensor of the graph, or a number whose dtype follows from what it is combined with."""

    content: Any
    dtype: _C.dtype | None = None

    @property
    def is_bool(self) -> bool:
        return self.dtype == torch_py.bool


def write_expression(graph: Graph, node: Node) -> str:
    """Writes a call of a pointwise operator.

    Raises UnsupportedOperatorError for functions that ONNX lacks.
    """
    definition = _definitions()[node.overload]
    dtype = _computed_in(definition.promotion, node)
    terms = {
        name: Term(graph.cast(value, dtype), dtype) if isinstance(value, Operand) else Term(value)
        for name, value in node.arguments.items()
    }
    result = _Writer(graph, node, terms, dtype).term(ast.parse(definition.expression, mode="eval").body)

    wanted = node.result.dtype
    if result.dtype is None:
        result = Term(graph.cast(result.content, wanted), wanted)
    return str(result.content if result.dtype == wanted else graph.to(result.content, wanted))


def _computed_in(promotion: str, node: Node) -> _C.dtype:
    operands = [
        value for value in node.arguments.values() if isinstance(value, (Operand, int, float, Varying))
    ]
    dtype = common_dtype(*operands)
    if promotion == "int_to_float" and not dtype.is_floating_point:
        return torch_py.get_default_dtype()
    if promotion == "bool_to_long" and dtype == torch_py.bool:
        return torch_py.int64
    return dtype  # type: ignore[no-any-return]


_ARITHMETIC: dict[type, str] = {
    ast.Add: "Add",
    ast.Sub: "Sub",
    ast.Mult: "Mul",
    ast.Div: "Div",
    ast.Pow: "Pow",
}
_COMPARISONS: dict[type, str] = {
    ast.Lt: "Less",
    ast.LtE: "LessOrEqual",
    ast.Gt: "Greater",
    ast.GtE: "GreaterOrEqual",
    ast.Eq: "Equal",
    ast.NotEq: "Equal",
}
_ON_NUMBERS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.Pow: lambda a, b: a**b,
}
_NEUTRAL: dict[type, int] = {ast.Add: 0, ast.Sub: 0, ast.Mult: 1, ast.Div: 1, ast.Pow: 1}
_CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}
# The functions of formulas, translated: those that are one node.
_NODES = {
    name: name.capitalize()
    for name in (
        "abs acos acosh asin asinh atan atanh ceil cos cosh erf exp floor log reciprocal relu round sigmoid "
        "sign sin sinh softplus sqrt tan tanh"
    ).split()
} | {"maximum": "Max", "minimum": "Min"}
# Functions in terms of others.
_MEANINGS = {
    "copysign": "where(signbit(b), -abs(a), abs(a))",
    "erfc": "1 - erf(a)",
    "exp2": "exp(a * 0.6931471805599453)",
    "expm1": "where(abs(a) < 0.001, a + a * a / 2 + a * a * a / 6, exp(a) - 1)",
    "fmax": "where(isnan(a), b, where(isnan(b), a, maximum(a, b)))",
    "fmin": "where(isnan(a), b, where(isnan(b), a, minimum(a, b)))",
    "hypot": "sqrt(a * a + b * b)",
    "log10": "log(a) * 0.4342944819032518",
    "log1p": "where(abs(a) < 0.001, a - a * a / 2 + a * a * a / 3, log(1 + a))",
    "log2": "log(a) * 1.4426950408889634",
    "logaddexp": "where(a == b, a + 0.6931471805599453, maximum(a, b) + log1p(exp(-abs(a - b))))",
    "logaddexp2": "where(a == b, a + 1, maximum(a, b) + log2(1 + exp2(-abs(a - b))))",
    "rsqrt": "1 / sqrt(a)",
    "signbit": "a < 0 or (a == 0 and 1 / a < 0)",
    "trunc": "sign(a) * floor(abs(a))",
}
# The angle of the point (b, a): that of the right half plane, moved by half a turn in the left one.
_MEANINGS["atan2"] = (
    "where(isnan(a) or isnan(b), nan, where(b == 0, sign(a) * 1.5707963267948966 "
    "+ where(signbit(b) and a == 0, 3.141592653589793, 0), atan(a / b) "
    "+ where(b < 0, where(a < 0, -3.141592653589793, 3.141592653589793), 0)))"
)


class _Writer:
    """Writes the nodes of one expression."""

    def __init__(self, graph: Graph, node: Node, terms: dict[str, Term], dtype: _C.dtype) -> None:
        self.graph = graph
        self.node = node
        self.terms = terms
        self.dtype = dtype

    def term(self, tree: ast.expr) -> Term:
        """The value of a part of the expression."""
        if isinstance(tree, ast.Constant):
            return Term(tree.value)
        if isinstance(tree, ast.Name):
            return self.terms[tree.id] if tree.id in self.terms else Term(_CONSTANTS[tree.id])

        if isinstance(tree, ast.UnaryOp):
            return self._unary(tree)
        if isinstance(tree, ast.BinOp):
            return self._binary(type(tree.op), self.term(tree.left), self.term(tree.right))
        if isinstance(tree, ast.BoolOp):
            op_type = "And" if isinstance(tree.op, ast.And) else "Or"
            return functools.reduce(
                lambda one, other: self._op(op_type, torch_py.bool, one, other),
                [self._truth(self.term(value)) for value in tree.values],
            )

        if isinstance(tree, ast.Compare):
            return self._comparison(type(tree.ops[0]), self.term(tree.left), self.term(tree.comparators[0]))
        assert isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name)
        return self._call(tree.func.id, [self.term(argument) for argument in tree.args])

    def _named(self, term: Term, dtype: _C.dtype) -> str:
        if term.dtype is None:
            return self.graph.cast(term.content, dtype)
        return str(term.content) if term.dtype == dtype else self.graph.to(term.content, dtype)

    def _op(self, op_type: str, dtype: _C.dtype, *terms: Term, computed_in: Any = None) -> Term:
        names = [self._named(term, computed_in or dtype) for term in terms]
        return Term(self.graph.op(op_type, *names), dtype)

    def _common(self, *terms: Term) -> Any:
        """The dtype of tensors and numbers that meet. Truth values count as numbers among numbers."""
        dtypes = {term.dtype for term in terms if term.dtype is not None}
        if dtypes <= {torch_py.bool} and not all(term.is_bool for term in terms):
            return self.dtype
        return next((dtype for dtype in dtypes if dtype != torch_py.bool), torch_py.bool)

    def _truth(self, term: Term) -> Term:
        return Term(self._named(term, torch_py.bool), torch_py.bool)

    def _unary(self, tree: ast.UnaryOp) -> Term:
        operand = self.term(tree.operand)
        if isinstance(tree.op, ast.Not):
            return self._op("Not", torch_py.bool, self._truth(operand))
        if operand.dtype is None and not isinstance(operand.content, Varying):
            return Term(-operand.content)
        return self._op("Neg", self._common(operand, Term(0)), operand)

    def _binary(self, kind: type, left: Term, right: Term) -> Term:
        numbers = [term.content for term in (left, right) if term.dtype is None]
        if len(numbers) == 2 and not any(isinstance(number, Varying) for number in numbers):
            return Term(_ON_NUMBERS[kind](*numbers))
        if right.dtype is None and right.content == _NEUTRAL.get(kind) and not left.is_bool:
            return left
        if left.is_bool and right.is_bool and kind is ast.Mult:
            return self._op("And", torch_py.bool, left, right)
        return self._op(_ARITHMETIC[kind], self._common(left, right), left, right)

    def _comparison(self, kind: type, left: Term, right: Term) -> Term:
        dtype = self._common(left, right)
        if dtype == torch_py.bool and kind not in (ast.Eq, ast.NotEq):
            dtype = torch_py.int32  # ONNX orders numbers only
        found = self._op(_COMPARISONS[kind], torch_py.bool, left, right, computed_in=dtype)
        return self._op("Not", torch_py.bool, found) if kind is ast.NotEq else found

    def _call(self, function: str, arguments: list[Term]) -> Term:
        dtype = self._common(*arguments, *([Term(0)] if all(a.dtype is None for a in arguments) else []))

        if function == "where":
            return self._where(*arguments)
        if function in ("isnan", "isinf"):
            source = dtype if dtype.is_floating_point else torch_py.float32
            op_type = "IsNaN" if function == "isnan" else "IsInf"
            return self._op(op_type, torch_py.bool, *arguments, computed_in=source)
        if function == "conj" or (function in _ROUNDING and not dtype.is_floating_point):
            return arguments[0]

        if function in _NODES:
            if dtype == torch_py.bool:
                return self._of_bools(function, arguments)
            return self._op(_NODES[function], dtype, *arguments)
        if function == "signbit" and not dtype.is_floating_point:
            return self._comparison(ast.Lt, arguments[0], Term(0))
        if function in _MEANINGS:
            given = {name: argument for name, argument in zip("ab", arguments)}
            inner = _Writer(self.graph, self.node, given, dtype)
            return inner.term(ast.parse(_MEANINGS[function], mode="eval").body)
        raise self.node.unsupported(f"cannot be exported: ONNX lacks the function {function}")

    def _of_bools(self, function: str, arguments: list[Term]) -> Term:
        if function in ("maximum", "minimum"):
            return self._op("Or" if function == "maximum" else "And", torch_py.bool, *arguments)
        return arguments[0]

    def _where(self, condition: Term, one: Term, other: Term) -> Term:
        dtype = self._common(one, other) if one.dtype or other.dtype else self.dtype
        names = (self._named(one, dtype), self._named(other, dtype))
        return Term(self.graph.choose(self._truth(condition).content, *names, dtype), dtype)


_ROUNDING = {"floor", "ceil", "trunc", "round"}
