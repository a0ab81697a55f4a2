"""Evaluates expressions for real and complex numbers, to compare written derivatives with the formula."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from codegen.expressions import nodes
from codegen.expressions.functions import CONSTANTS, CONSTRUCTS
from codegen.expressions.nodes import Binary, Call, Compare, Logical, Name, Node, Number, Unary
from codegen.remembered import remembered

# A function that this module does not know itself.
Other = Callable[[str, list[float]], float]


class NoValueError(Exception):
    """The expression has no value at this point, or one that this module cannot compute."""


def evaluate(node: Node, values: Mapping[str, float], other: Other | None = None) -> float:
    """The value of ``expr:``, or of a formula whose tensors have one element. Raises NoValueError."""
    try:
        return _compiled(node)(values, other)
    except (ArithmeticError, ValueError, RecursionError) as error:
        raise NoValueError(str(error)) from error


def evaluate_complex(node: Node, values: Mapping[str, complex], other: Other | None = None) -> complex:
    """Like `evaluate`, where names stand for complex numbers. Functions without complex values have none."""
    return evaluate(node, cast(Mapping[str, float], values), other)


# The value of a node, given those of names.
_Compiled = Callable[[Mapping[str, float], "Other | None"], float]


@remembered
def _compiled(node: Node) -> _Compiled:
    """``node`` as nested functions: each formula is evaluated at hundreds of points."""
    if isinstance(node, (Number, nodes.Boolean)):
        value = node.value
        return lambda values, other: value
    if isinstance(node, Name):
        return _name(node.name)

    if isinstance(node, Unary):
        operand = _compiled(node.operand)
        if node.operator == "not":
            return lambda values, other: not operand(values, other)
        return lambda values, other: -operand(values, other)
    if isinstance(node, Binary):
        function = {"+": "add", "-": "sub", "*": "mul", "/": "div", **CONSTRUCTS}[node.operator]
        return _call(function, (node.left, node.right))

    if isinstance(node, Logical):
        return _call(CONSTRUCTS[node.operator], (node.left, node.right))
    if isinstance(node, Compare):
        pairs = zip(node.operators, node.operands, node.operands[1:])
        parts = [_call(CONSTRUCTS.get(operator, operator), pair) for operator, *pair in pairs]
        return lambda values, other: all(part(values, other) for part in parts)

    if isinstance(node, nodes.Conditional):
        return _choice(node.condition, node.then, node.otherwise)
    if isinstance(node, Call):
        return _call(node.function, node.arguments)
    return _nothing(nodes.to_source(node))


def _nothing(what: str) -> _Compiled:
    def refuse(values: Mapping[str, float], other: Other | None) -> float:
        raise NoValueError(what)

    return refuse


def _name(name: str) -> _Compiled:
    constant = CONSTANTS.get(name)

    def value(values: Mapping[str, float], other: Other | None) -> float:
        found = values.get(name, constant)
        if found is None:
            raise NoValueError(name)
        return found

    return value


def _choice(*parts: Node) -> _Compiled:
    condition, then, otherwise = map(_compiled, parts)
    return lambda values, other: (then if condition(values, other) else otherwise)(values, other)


def _call(function: str, arguments: Sequence[Node]) -> _Compiled:
    if function == "where" and len(arguments) == 3:
        return _choice(*arguments)

    parts = [_compiled(argument) for argument in arguments]
    known = _known(function)

    def value(values: Mapping[str, float], other: Other | None) -> float:
        given = [part(values, other) for part in parts]
        if known is None:
            if other is None:
                raise NoValueError(function)
            return other(function, given)
        try:
            found: float = known(*given)
        except TypeError as error:  # complex numbers, or not the function of this name: log(x, base)
            found = _complex(function, given, error)
        return found

    return value


def needs_operator(function: str) -> bool:
    """Whether the value of a call is that of an operator's formula."""
    return function != "where" and _known(function) is None


def _known(function: str) -> Callable[..., float] | None:
    if function in _FUNCTIONS:
        return _FUNCTIONS[function]
    return None if function in _OTHERWISE_IN_MATH else getattr(math, function, None)


def _complex(function: str, given: Sequence[complex], error: TypeError) -> Any:
    """The value of a function whose real form has refused the numbers."""
    known = _COMPLEX_FUNCTIONS.get(function) or getattr(cmath, function, None)
    if known is None or not any(isinstance(value, complex) for value in given):
        raise NoValueError(function) from error
    try:
        return known(*given)
    except TypeError as other:
        raise NoValueError(function) from other


def _sign(x: float) -> float:
    return (x > 0) - (x < 0)


def _power(x: float, y: float) -> float:
    found = x**y
    if isinstance(found, complex) and not any(isinstance(given, complex) for given in (x, y)):
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
    "conj": lambda x: x.conjugate(),
    "real": lambda x: x.real,
    "imag": lambda x: x.imag,
    "zeros_like": lambda x: 0.0,
    "ones_like": lambda x: 1.0,
}
# Of functions above that know real numbers alone, and that cmath lacks.
_COMPLEX_FUNCTIONS: dict[str, Callable[..., complex]] = {
    "pow": lambda z, w: z**w,
    "rsqrt": lambda z: 1 / cmath.sqrt(z),
    "sigmoid": lambda z: 1 / (1 + cmath.exp(-z)),
    "sgn": lambda z: z / abs(z) if z else z,
    "arg": cmath.phase,
    "angle": cmath.phase,
    "isinf": cmath.isinf,
    "expm1": lambda z: cmath.exp(z) - 1,
    "log1p": lambda z: cmath.log(1 + z),
}
