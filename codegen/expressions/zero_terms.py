"""Finds terms that add nothing: `0 * x`, `x - x`, `+ 0`.

Each seems to use its arguments, but the result does not depend on them. As a choice of `where`, a product
with 0 says more than 0 does: it is nan where x is.
"""

from __future__ import annotations

from collections.abc import Iterator

from codegen.expressions import nodes
from codegen.expressions.errors import FormulaProblem
from codegen.expressions.nodes import Binary, Node, Number, Unary


def zero_terms(node: Node, hint: str) -> list[FormulaProblem]:
    """A problem for each term of a formula that is 0. `hint` says what to write if the whole formula is."""
    if is_zero(node):
        return [_problem(node, hint)]
    never = [part for part in nodes.walk(node) if _is_never_true(part)]
    if never:
        what = f"'{nodes.to_source(never[0])}' is never true"
        return [FormulaProblem(never[0].offset, what, "compare with what was meant")]
    return [_part_problem(part) for part in _parts(node)]


def _part_problem(part: Node) -> FormulaProblem:
    if isinstance(part, Binary) and part.operator == "-" and _is_literal_zero(part.left):
        negative = nodes.to_source(Unary("-", part.right))
        message = f"'{nodes.to_source(part.left)}' adds nothing before '-'"
        return FormulaProblem(part.left.offset, message, f"write {negative}")
    return _problem(part, "remove it, or write what was meant")


def _problem(node: Node, hint: str) -> FormulaProblem:
    source = nodes.to_source(node)
    what = "adds nothing" if isinstance(node, Number) else "is 0, whatever its arguments are"
    return FormulaProblem(node.offset, f"'{source}' {what}", hint)


def _parts(node: Node) -> Iterator[Node]:
    """The terms that are 0, and the differences whose first term is."""
    is_choice = isinstance(node, nodes.Conditional) or (
        isinstance(node, nodes.Call) and node.function == "where"
    )
    sum_of = node if isinstance(node, Binary) and node.operator in ("+", "-") else None
    for child in nodes.children(node):
        if is_zero(child) and not is_choice:
            yield child
        elif sum_of is not None and _is_literal_zero(child):
            is_negation = sum_of.operator == "-" and child is sum_of.left
            yield node if is_negation else child
        else:
            yield from _parts(child)


def is_zero(node: Node) -> bool:
    """Whether a difference or a product is 0 as it is written."""
    if isinstance(node, Unary) and node.operator == "-":
        return is_zero(node.operand)
    if not isinstance(node, Binary):
        return False

    left, right = node.left, node.right
    if node.operator == "-":
        return left == right
    factors = {"*": (left, right), "/": (left,)}.get(node.operator, ())
    return any(_is_literal_zero(factor) or is_zero(factor) for factor in factors)


def _is_never_true(node: Node) -> bool:
    """`x < x`; `x != x` asks for nan."""
    is_order = isinstance(node, nodes.Compare) and node.operators in (("<",), (">",))
    return is_order and node.parts()[0] == node.parts()[1]


def _is_literal_zero(node: Node) -> bool:
    return isinstance(node, Number) and node.value == 0
