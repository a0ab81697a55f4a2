"""Evaluates expressions for real numbers, to compare written derivatives with the formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from codegen.expressions import nodes
from codegen.expressions.functions import CONSTANTS, CONSTRUCTS
from codegen.expressions.nodes import Binary, Call, Compare, Logical, Name, Node, Number, Unary

# A function that this module does not know itself.
Other = Callable[[str, list[float]], float]


class NoValueError(Exception):
    """The expression has no value at this point, or one that this module cannot compute."""


def evaluate(node: Node, values: Mapping[str, float], other: Other | None = None) -> float:
    """The value of ``expr:``, or of a formula whose tensors have one element. Raises NoValueError."""
    try:
        return _Evaluation(values, other).of(node)
    except (ArithmeticError, ValueError, RecursionError) as error:
        raise NoValueError(str(error)) from error


class _Evaluation:
    def __init__(self, values: Mapping[str, float], other: Other | None) -> None:
        self.values = values
        self.other = other

    def of(self, node: Node) -> float:
        if isinstance(node, Number):
            return node.value
        if isinstance(node, nodes.Boolean):
            return node.value

        if isinstance(node, Name):
            if node.name in self.values:
                return self.values[node.name]
            if node.name in CONSTANTS:
                return CONSTANTS[node.name]
            raise NoValueError(node.name)

        if isinstance(node, Unary):
            return not self.of(node.operand) if node.operator == "not" else -self.of(node.operand)

        if isinstance(node, Binary):
            return self.call(
                {"+": "add", "-": "sub", "*": "mul", "/": "div", **CONSTRUCTS}[node.operator],
                (node.left, node.right),
            )

        if isinstance(node, Logical):
            return self.call(CONSTRUCTS[node.operator], (node.left, node.right))
        if isinstance(node, Compare):
            pairs = zip(node.operators, node.operands, node.operands[1:])
            return all(self.call(CONSTRUCTS.get(operator, operator), pair) for operator, *pair in pairs)

        if isinstance(node, nodes.Conditional):
            return self.of(node.then if self.of(node.condition) else node.otherwise)
        if isinstance(node, Call):
            return self.call(node.function, node.arguments)

        raise NoValueError(nodes.to_source(node))

    def call(self, function: str, arguments: tuple[Node, ...] | list[Node]) -> float:
        if function == "where" and len(arguments) == 3:
            return self.of(arguments[1] if self.of(arguments[0]) else arguments[2])

        values = [self.of(argument) for argument in arguments]
        known = _FUNCTIONS.get(function) or (
            None if function in _OTHERWISE_IN_MATH else getattr(math, function, None)
        )

        if known is None:
            if self.other is None:
                raise NoValueError(function)
            return self.other(function, values)

        try:
            found: float = known(*values)
        except TypeError as error:  # not the function of this name: log(x, base)
            raise NoValueError(function) from error
        return found


def _sign(x: float) -> float:
    return (x > 0) - (x < 0)


def _power(x: float, y: float) -> float:
    found = x**y
    if isinstance(found, complex):
        raise NoValueError("a negative base with a fractional exponent")
    return float(found)


# Functions that math lacks or has under another name.
_OTHERWISE_IN_MATH = ("e", "inf", "nan", "pi", "tau", "dist", "prod", "sumprod", "perm", "comb")
_FUNCTIONS: dict[str, Callable[..., float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_not": lambda x: not x,
    "pow": _power,
    "remainder": lambda x, y: x % y,
    "exp2": lambda x: 2.0**x,
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
    "softplus": lambda x: math.log1p(math.exp(x)),
    "logaddexp": lambda x, y: math.log(math.exp(x) + math.exp(y)),
    "logaddexp2": lambda x, y: math.log2(2.0**x + 2.0**y),
    "relu": lambda x: max(x, 0.0),
    "abs": abs,
    "sign": _sign,
    "sgn": _sign,
    "round": lambda x: float(round(x)),
    "maximum": max,
    "minimum": min,
    "fmax": max,
    "fmin": min,
    "clamp": lambda x, low, high: min(max(x, low), high),
    "isnan": lambda x: x != x,
    "isinf": math.isinf,
    "signbit": lambda x: math.copysign(1.0, x) < 0,
    "erfcx": lambda x: math.exp(x * x) * math.erfc(x),
    "conj": lambda x: x,
    "real": lambda x: x,
    "imag": lambda x: 0.0,
    "zeros_like": lambda x: 0.0,
    "ones_like": lambda x: 1.0,
}
