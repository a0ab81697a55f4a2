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
from codegen.expressions.nodes import Binary, Call, Node
from codegen.schema import FunctionSchema

_LINEAR_FUNCTIONS = ("conj", "real", "imag")
# What the other arguments of a formula are tried as.
_OTHERS = (0.3, 0.8, 2.5, -0.6)

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
        raise NotLinear(node, "it depends on what the gradient is compared with")
    return found


def _is_not(node: Node) -> bool:
    return isinstance(node, nodes.Unary) and node.operator == "not"


def _of_binary(node: Binary, degrees: Mapping[str, int], resolve: Resolve) -> int:
    left = degree(node.left, degrees, resolve)
    right = degree(node.right, degrees, resolve)
    if node.operator in ("+", "-"):
        if left != right:
            alone = node.right if left else node.left
            raise NotLinear(alone, f"the term '{nodes.to_source(alone)}' has no gradient")
        return left

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
    """Whether a choice stands for no gradient."""
    is_literal = isinstance(node, nodes.Nothing) or (isinstance(node, nodes.Number) and node.value == 0)
    return is_literal or (isinstance(node, Call) and node.function in ("zeros_like", "new_zeros"))


def _of_call(node: Call, degrees: Mapping[str, int], resolve: Resolve) -> int:
    if node.function == "where" and len(node.arguments) == 3:
        return _of_choice(node, node.arguments, degrees, resolve)

    given = [degree(argument, degrees, resolve) for argument in node.arguments]
    if not any(given) or node.function in _LINEAR_FUNCTIONS:
        return max(given, default=0)

    called = resolve(node)
    formula = getattr(called, "expr", None) or getattr(called, "lowering", None)
    if getattr(called, "structure", None) != "pointwise" or formula is None or formula.node is None:
        return 1

    if not _is_linear_by_value(called.schema, formula.node, given):
        raise NotLinear(node, f"'{node.function}' is not linear in it")
    return 1


def _is_linear_by_value(schema: FunctionSchema, formula: Node, given: Sequence[int]) -> bool:
    """Whether a formula over elements is: at 0, such as that of ``xlogy``, it may be written otherwise."""
    names = [argument.name for argument in schema.arguments.flat_non_out]
    degrees = dict(zip(names, given))

    def value(scale: float, other: float) -> float:
        return evaluate(formula, {n: scale if degrees.get(n) else other for n in names})

    for other in _OTHERS:
        try:
            one = value(1.0, other)
            is_scaled = all(math.isclose(value(scale, other), scale * one) for scale in (3.0, -1.0))
        except NoValueError:
            continue
        if math.isfinite(one) and not is_scaled:
            return False
    return True
