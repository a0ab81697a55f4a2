"""Tells whether a derivative is linear in the gradient, as the chain rule demands.

The degree of a part is 0 without the gradient and 1 where it is linear. Calls of operators without a formula
count as linear in their arguments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from codegen.expressions import nodes
from codegen.expressions.evaluate import NoValueError, evaluate
from codegen.expressions.functions import CONSTANTS, NUMBER_AS_TENSOR
from codegen.expressions.nodes import Binary, Call, Node
from codegen.schema import FunctionSchema

# What the other arguments of a formula are tried as.
_OTHERS = (0.3, 0.8, 2.5, -0.6)
# The gradient is tried at multiples of numbers within the domain of most functions, or that of acosh.
_GRADIENTS = (0.4, 1.3)
_SCALES = (1.0, 0.5, 1.7, -1.0)
# Names of what formulas write for a gradient of zeros.
_ZEROS = ("zeros_like", "new_zeros", "zeros")

# The operator that a call means, if that is known.
Resolve = Callable[[Call], Any]


class NotLinear(Exception):
    """The part that is not linear, and why."""

    def __init__(self, node: Node, why: str) -> None:
        super().__init__(why)
        self.node = node
        self.why = why


def degree(node: Node, degrees: Mapping[str, int], resolve: Resolve) -> int:
    """0 or 1. ``degrees`` are those of names, 0 unless given. Raises NotLinear."""
    if isinstance(node, nodes.Name):
        return degrees.get(node.name, 0)
    if isinstance(node, nodes.Method):  # sizes and the like
        return 0

    if isinstance(node, Binary):
        return _of_binary(node, degrees, resolve)
    if isinstance(node, nodes.Conditional):
        return _of_choice(node, (node.condition, node.then, node.otherwise), degrees, resolve)
    if isinstance(node, Call):
        return _of_call(node, degrees, resolve)
    if isinstance(node, nodes.Compare) and any(isinstance(o, nodes.Nothing) for o in node.operands):
        return 0

    found = max((degree(child, degrees, resolve) for child in nodes.children(node)), default=0)
    if found and (isinstance(node, (nodes.Compare, nodes.Logical)) or _is_not(node)):
        raise NotLinear(node, "it compares the gradient")
    return found


def _is_not(node: Node) -> bool:
    return isinstance(node, nodes.Unary) and node.operator == "not"


def _of_binary(node: Binary, degrees: Mapping[str, int], resolve: Resolve) -> int:
    left = degree(node.left, degrees, resolve)
    right = degree(node.right, degrees, resolve)
    if node.operator in ("+", "-"):
        alone = node.right if left else node.left
        if left != right and not _is_zero(alone):
            raise NotLinear(alone, f"the term '{nodes.to_source(alone)}' has no gradient")
        return max(left, right)

    if node.operator == "*" and left + right < 2:
        return left + right
    if node.operator == "/" and not right:
        return left
    if not left and not right:
        return 0
    raise NotLinear(node, f"'{node.operator}' is not linear in it")


def _of_choice(node: Node, parts: tuple[Node, ...], degrees: Mapping[str, int], resolve: Resolve) -> int:
    condition, *choices = parts
    if degree(condition, degrees, resolve):
        raise NotLinear(condition, "the condition depends on the gradient")
    found = [degree(choice, degrees, resolve) for choice in choices if not _is_zero(choice)]
    if 0 in found and 1 in found:
        alone = next(c for c in choices if not _is_zero(c) and not degree(c, degrees, resolve))
        raise NotLinear(alone, f"the choice '{nodes.to_source(alone)}' has no gradient")
    return max(found, default=0)


def _is_zero(node: Node) -> bool:
    """Whether a choice or a term stands for no gradient."""
    if isinstance(node, nodes.Unary) and node.operator == "-":
        return _is_zero(node.operand)
    if isinstance(node, Call) and node.function == NUMBER_AS_TENSOR and node.arguments:
        return _is_zero(node.arguments[0])
    is_literal = isinstance(node, nodes.Nothing) or (isinstance(node, nodes.Number) and node.value == 0)
    return is_literal or (isinstance(node, Call) and node.function in _ZEROS)


def _of_call(node: Call, degrees: Mapping[str, int], resolve: Resolve) -> int:
    if node.function == "where" and len(node.arguments) == 3:
        return _of_choice(node, node.arguments, degrees, resolve)

    given = [degree(argument, degrees, resolve) for argument in node.arguments]
    if not any(given):
        return 0

    called = resolve(node)
    formula = getattr(called, "expr", None) or getattr(called, "lowering", None)
    if getattr(called, "structure", None) != "pointwise" or formula is None or formula.node is None:
        return 1

    if _is_linear_by_value(called.schema, formula.node, node.arguments, given) is False:
        raise NotLinear(node, f"'{node.function}' is not linear in it")
    return 1


def _is_linear_by_value(
    schema: FunctionSchema, formula: Node, arguments: Sequence[Node], given: Sequence[int]
) -> bool | None:
    """Whether a formula over elements is; None where it has no value at any point.

    ``given`` are the degrees of ``arguments``. At 0, a formula such as that of ``xlogy`` may be written
    otherwise.
    """
    names = [argument.name for argument in schema.arguments.flat_non_out]
    varied = [name for name, is_varied in zip(names, given) if is_varied]
    is_known = False

    for other in _OTHERS:
        fixed = {a.name: a.default_value for a in schema.arguments.flat_non_out if a.has_default}
        fixed |= {name: _value(argument, other) for name, argument in zip(names, arguments)}
        numbers = {name: float(value) for name, value in fixed.items() if isinstance(value, (int, float))}

        for gradient in _GRADIENTS:
            points = [(scale, _at(formula, numbers, varied, scale * gradient)) for scale in _SCALES]
            finite = [(scale, value) for scale, value in points if value is not None]
            if any(isinstance(value, bool) for _, value in finite):
                return False
            is_known = is_known or len(finite) > 1
            slopes = [value / scale for scale, value in finite]
            if not all(math.isclose(slope, slopes[0], rel_tol=1e-6, abs_tol=1e-9) for slope in slopes):
                return False

    return True if is_known else None


def _value(argument: Node, other: float) -> float | None:
    """The value of an argument without gradient, where every name in it stands for ``other``."""
    if isinstance(argument, (nodes.Nothing, nodes.String)):
        return None
    if _is_zero(argument):
        return 0.0
    try:
        return evaluate(argument, {name: other for name in nodes.names(argument) if name not in CONSTANTS})
    except NoValueError:
        return other


def _at(formula: Node, numbers: Mapping[str, float], varied: Sequence[str], gradient: float) -> float | None:
    """The value where ``varied`` are all ``gradient``; None if it has no finite one."""
    try:
        value = evaluate(formula, {**numbers, **dict.fromkeys(varied, gradient)})
    except NoValueError:
        return None
    return value if math.isfinite(value) else None
