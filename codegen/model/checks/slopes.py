"""Compares written ``derivatives:`` with the formula ``expr:`` of the same entry.

Derivatives are written where they are more exact, keep less, or where a function has no rule. They replace
those that follow from the formula, so a wrong one would go unnoticed until a gradient check runs. Here each
is evaluated at some points and compared with differences of the formula: with real numbers, and with complex
ones (complex_slopes.py) if the entry has such dtypes. Formulas over operators without ``expr`` are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from itertools import product

from codegen.expressions import ExpressionError, FormulaProblem, Node, gradient, to_formula, to_source
from codegen.expressions.evaluate import NoValueError, Other, evaluate
from codegen.expressions.nodes import Number, TupleOf, children
from codegen.model.checks.complex_slopes import complex_points, first_complex_difference
from codegen.model.operator import Derivative, Operator
from codegen.model.program import Program
from codegen.schema import Argument, Symbol

# Values of tensors, from small to large, away from 0, 1 and other special cases of a formula.
_VALUES = (
    0.31,
    -0.72,
    1.63,
    -2.17,
    0.86,
    2.69,
    -0.043,
    0.0062,
    5.3,
    -7.9,
    23.1,
    -31.7,
    104.0,
    -350.0,
    1730.0,
)
# Of numbers without a default, and after the default of others.
_NUMBERS: dict[str, tuple[float, ...]] = {
    "int": (2, 3, 1),
    "SymInt": (2, 3, 1),
    "bool": (True, False),
    "float": (0.4, 1.7, -0.6),
    "Scalar": (0.4, 1.7, -0.6),
}
_MOST_POINTS = 240
_GRAD = 0.7
_DEEPEST = 8


def check_slopes(operator: Operator, program: Program) -> list[tuple[Derivative, FormulaProblem]]:
    """The written derivatives that disagree with ``expr``."""
    expr = operator.expr
    if (
        expr is None
        or expr.node is None
        or operator.promotion == "comparison"
    ):
        return []

    found = []
    for derivative in operator.derivatives:
        for name, node in _formulas(derivative):
            message = _difference(operator, program, name, node)
            if message is not None:
                found.append((derivative, FormulaProblem(node.offset, message, _hint(operator, name))))

    return found


def _formulas(derivative: Derivative) -> Iterator[tuple[str, Node]]:
    """Each input with its own formula."""
    node = None if derivative.formula is None else derivative.formula.node
    if node is None:
        return
    if len(derivative.inputs) == 1:
        yield derivative.inputs[0], node
    elif isinstance(node, TupleOf) and len(node.items) == len(derivative.inputs):
        yield from zip(derivative.inputs, node.items)


def _hint(operator: Operator, name: str) -> str:
    assert operator.expr is not None
    try:
        follows = to_source(to_formula(gradient(operator.expr.node, name, operator), operator))
        return f"write {follows}, or remove 'derivatives': they follow from expr"
    except ExpressionError:
        return "write the derivative of expr"


def _difference(operator: Operator, program: Program, name: str, node: Node) -> str | None:
    """Where the two gradients differ, in words; None if they agree or cannot be evaluated."""
    assert operator.expr is not None
    call = _calls(program, _DEEPEST)
    wrong: tuple[str, complex, complex] | None = None
    if any("float" in d for d in operator.dtypes):
        wrong = _first_difference(operator, name, node, call)
    if wrong is None and any(d.startswith("complex") for d in operator.dtypes):
        is_real = operator.promotion == "complex_to_real"
        at = complex_points(operator, numbers_of_entry(operator))
        wrong = first_complex_difference((operator.expr.node, node), name, at, is_real, call)
    if wrong is None:
        return None

    place, written, right = wrong
    return f"the gradient of '{name}' is {written:.4g} at {place}, but that of expr {right:.4g}"


def _first_difference(
    operator: Operator, name: str, node: Node, call: Other
) -> tuple[str, float, float] | None:
    """A point where the two gradients differ, with both values."""
    assert operator.expr is not None
    formula = operator.expr.node

    for point in points(operator, _corners(formula) | _corners(node)):
        try:
            slope, noise = _slope(formula, point, name, call)
            result = evaluate(formula, point, call)
            written = evaluate(node, {"result": result, "grad": _GRAD, **point}, call)
        except NoValueError:
            continue

        if math.isfinite(written) and abs(written - _GRAD * slope) > 1e-4 * abs(slope) + noise:
            place = ", ".join(f"{key} = {value:g}" for key, value in point.items())
            return f"{place}, grad = {_GRAD}", written, _GRAD * slope

    return None


def _slope(formula: Node, point: dict[str, float], name: str, call: Other) -> tuple[float, float]:
    """The derivative by differences, and how far rounding may shift it.

    Raises NoValueError next to a step or a corner.
    """
    value = evaluate(formula, point, call)
    step = 1e-5 * max(min(abs(point[name]), 1.0), 0.01)  # small, as functions may oscillate

    def slope(width: float) -> float:
        return (evaluate(formula, {**point, name: point[name] + width}, call) - value) / width

    above = slope(step)
    below = slope(-step)
    noise = 1e-9 + 1e-14 * abs(value) / step
    # At a corner both sides differ; in the middle of a step the slope grows as the width shrinks.
    others = (below, slope(step / 4))
    if not math.isfinite(above) or any(
        abs(above - other) > 1e-2 * abs(above) + 5 * noise for other in others
    ):
        raise NoValueError
    return (above + below) / 2, noise


# Where the formulas are compared


def points(operator: Operator, corners: frozenset[float]) -> Iterator[dict[str, float]]:
    """Values over the whole domain, and on both sides of what the formulas compare with."""
    tensors = operator.tensor_arguments
    combinations = numbers_of_entry(operator)
    for turn, numbers in enumerate(combinations):
        near = _near(corners | {float(v) for v in numbers.values()}) if turn < 2 else []
        values = [*_VALUES[: 6 if turn else None], *near]
        strides = range(1, 2 if len(tensors) < 2 else 4)
        for shift, stride in product(range(len(values)), strides):
            yield {
                **{a.name: values[(shift + stride * i) % len(values)] for i, a in enumerate(tensors)},
                **numbers,
            }


def numbers_of_entry(operator: Operator) -> list[dict[str, float]]:
    """Values of the other arguments that satisfy the conditions of the entry, the defaults first."""
    arguments = operator.schema.arguments.non_tensors
    tried = [dict(zip((a.name for a in arguments), values)) for values in product(*map(_tries, arguments))]
    return [numbers for numbers in tried[:9] if _are_allowed(operator, numbers)] or tried[:1]


def _tries(argument: Argument) -> list[float]:
    value = argument.default_value if argument.has_default else None
    others = list(_NUMBERS.get(argument.type.base.name, (0.4,)))
    if isinstance(value, (bool, int, float)) and not isinstance(value, Symbol):
        return [value, *(other for other in others if other != value)]
    return others


def _are_allowed(operator: Operator, numbers: dict[str, float]) -> bool:
    for requirement in operator.requires:
        try:
            if requirement.check.node is not None and not evaluate(requirement.check.node, numbers):
                return False
        except (NoValueError, TypeError):
            continue
    return True


def _corners(formula: Node) -> frozenset[float]:
    """The numbers in the formula, among which are those that its branches compare with."""
    found = {float(formula.value)} if isinstance(formula, Number) else set()
    return frozenset(found).union(*map(_corners, children(formula)))


def _near(corners: Collection[float]) -> list[float]:
    """Each corner and numbers on both sides of it, and so for its negation and the quotient of two."""
    found = dict.fromkeys([0.0, *corners, *(a / b for a in corners for b in corners if b != 0 and a != b)])
    return [
        sign * corner * (1 + shift) if corner else sign * shift
        for corner in list(found)[:20]
        for sign in (1, -1)
        for shift in (-0.23, 0.19, 0.0)
    ][:_MOST_POINTS]


def _calls(program: Program, depth: int) -> Other:
    """Evaluates calls of operators that have an ``expr``."""

    def call(name: str, values: list[float]) -> float:
        for operator in program.by_base_name(name) if depth > 0 else ():
            names = [a.name for a in operator.schema.arguments.flat_non_out]
            if operator.expr is not None and operator.expr.node is not None and len(names) == len(values):
                return evaluate(operator.expr.node, dict(zip(names, values)), _calls(program, depth - 1))
        raise NoValueError(name)

    return call
