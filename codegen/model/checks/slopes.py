"""Compares written ``derivatives:`` with the formula ``expr:`` of the same entry.

Derivatives are written where they are more exact, keep less, or where a function has no rule. They replace
those that follow from the formula, so a wrong one would go unnoticed until a gradient check runs. Here each
is evaluated with real numbers at some points and compared with differences of the formula. Formulas over
operators without ``expr`` are skipped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from codegen.expressions import ExpressionError, FormulaProblem, Node, gradient, to_formula, to_source
from codegen.expressions.evaluate import NoValueError, Other, evaluate
from codegen.expressions.nodes import TupleOf
from codegen.model.operator import Derivative, Operator
from codegen.model.program import Program
from codegen.schema import Argument, Symbol

# Values of tensors, away from 0, 1 and other special cases of a formula.
_VALUES = (0.31, -0.72, 1.63, -2.17, 0.86, 2.69)
_GRAD = 0.7
_DEEPEST = 8


def check_slopes(operator: Operator, program: Program) -> list[tuple[Derivative, FormulaProblem]]:
    """The written derivatives that disagree with ``expr``."""
    expr = operator.expr
    if (
        expr is None
        or expr.node is None
        or operator.promotion == "comparison"
        or not any("float" in d for d in operator.dtypes)
    ):
        return []

    found = []
    for derivative in operator.derivatives:
        for name, node in _formulas(derivative):
            wrong = _first_difference(operator, program, name, node)
            if wrong is not None:
                place, written, right = wrong
                message = (
                    f"the gradient of '{name}' is {written:.4g} at {place}, but that of expr {right:.4g}"
                )
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


def _first_difference(
    operator: Operator, program: Program, name: str, node: Node
) -> tuple[str, float, float] | None:
    """A point where the two gradients differ, with both values; None if they agree or cannot be evaluated."""
    assert operator.expr is not None
    formula = operator.expr.node
    call = _calls(program, _DEEPEST)

    for point in _points(operator):
        try:
            slope = _slope(formula, point, name, call)
            written = evaluate(node, {"result": evaluate(formula, point, call), "grad": _GRAD, **point}, call)
        except NoValueError:
            continue

        if math.isfinite(written) and abs(written - _GRAD * slope) > 1e-3 * max(1.0, abs(slope)):
            place = ", ".join(f"{key} = {value:g}" for key, value in point.items())
            return f"{place}, grad = {_GRAD}", written, _GRAD * slope

    return None


def _slope(formula: Node, point: dict[str, float], name: str, call: Other) -> float:
    """The derivative by differences. Raises NoValueError next to a step or a corner."""
    value = evaluate(formula, point, call)
    step = 1e-5

    def slope(width: float) -> float:
        return (evaluate(formula, {**point, name: point[name] + width}, call) - value) / width

    above = slope(step)
    below = slope(-step)
    if not math.isfinite(above) or abs(above - below) > 1e-3 * max(1.0, abs(above)):
        raise NoValueError
    return (above + below) / 2


def _points(operator: Operator) -> Iterator[dict[str, float]]:
    tensors = operator.tensor_arguments
    fixed = {a.name: _number(a) for a in operator.schema.arguments.non_tensors}
    for shift in range(len(_VALUES)):
        for stride in (1, 2):
            yield {
                **{a.name: _VALUES[(shift + stride * i) % len(_VALUES)] for i, a in enumerate(tensors)},
                **fixed,
            }


def _number(argument: Argument) -> float:
    """The default, or else a number that no formula treats specially."""
    value = argument.default_value if argument.has_default else None
    if isinstance(value, (bool, int, float)) and not isinstance(value, Symbol):
        return value
    return 2 if argument.type.base.name in ("int", "SymInt", "bool") else 0.4


def _calls(program: Program, depth: int) -> Other:
    """Evaluates calls of operators that have an ``expr``."""

    def call(name: str, values: list[float]) -> float:
        for operator in program.by_base_name(name) if depth > 0 else ():
            names = [a.name for a in operator.schema.arguments.flat_non_out]
            if operator.expr is not None and operator.expr.node is not None and len(names) == len(values):
                return evaluate(operator.expr.node, dict(zip(names, values)), _calls(program, depth - 1))
        raise NoValueError(name)

    return call
