"""``lowering:`` — what an operator with a kernel of its own computes, for the compiler.

A pointwise operator has a formula like ``expr:``, in which an optional number may be compared with ``none``.
A reduction has one over the elements of a row: exactly one of REDUCTIONS is called, around which ``count`` is
the number of elements.
"""

from __future__ import annotations

from typing import Any

from codegen.expressions import nodes
from codegen.expressions.errors import FormulaProblem, did_you_mean
from codegen.expressions.expr_check import ExprChecker
from codegen.expressions.functions import CONSTANTS
from codegen.expressions.nodes import Call, Node
from codegen.expressions.scope import OperatorLike, Scope, is_none_test
from codegen.expressions.zero_terms import zero_terms

# How the elements of a row become one number.
REDUCTIONS = ("sum", "product", "amax", "amin", "any", "all", "xor")
COUNT = "count"


def check_lowering(node: Node, operator: OperatorLike, structure: str) -> list[FormulaProblem]:
    """Every mistake in a ``lowering:``."""
    checker = (_ReductionChecker if structure == "reduction" else _PointwiseChecker)(
        Scope(operator, tensors_as="Scalar")
    )
    checker.visit(node)
    if not checker.problems:
        checker.check_whole(node)
        checker.problems += zero_terms(node, "write what the kernel computes")
    return sorted(checker.problems, key=lambda problem: problem.offset)


class _PointwiseChecker(ExprChecker):
    takes_optional = True

    def visit(self, node: Node) -> None:
        if is_none_test(node):
            self.check_none_test(node)
        else:
            super().visit(node)

    def check_condition(self, node: Node) -> None:
        if not is_none_test(node):
            super().check_condition(node)

    def check_none_test(self, node: Node) -> None:
        assert isinstance(node, nodes.Compare)
        left, right = node.operands[0], node.operands[-1]
        argument = self.scope.argument(left.name) if isinstance(left, nodes.Name) else None
        is_simple = len(node.operands) == 2 and node.operators[0] in ("==", "!=")
        if not is_simple or not isinstance(right, nodes.Nothing):
            self.report(node, "this does not compare with none", "write 'x == none' or 'x != none'")
        elif argument is None or not argument.type.is_optional:
            self.report(node, "only an optional argument can be none", "compare an argument of type Scalar?")

    def check_whole(self, node: Node) -> None:
        self.check_all_used(node)


class _ReductionChecker(ExprChecker):
    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.reductions = 0
        self.is_inside = False

    def check_name(self, node: nodes.Name) -> None:
        if node.name == COUNT:
            if self.is_inside:
                self.report(node, "'count' is known after the reduction", "move it out of the call")
        elif node.name in CONSTANTS:
            pass
        elif not self.is_inside:
            hint = f"write sum({node.name}); reductions: {', '.join(REDUCTIONS)}"
            self.report(node, f"'{node.name}' is an element outside of a reduction", hint)
        else:
            super().check_name(node)

    def visit(self, node: Node) -> None:
        if not isinstance(node, Call) or node.function not in REDUCTIONS:
            super().visit(node)
        elif len(node.arguments) != 1:
            self.report(node, f"'{node.function}' takes one formula", f"write {node.function}(self)")
        elif self.is_inside:
            self.report(node, "a reduction within another", "write one reduction")
        else:
            self.reductions += 1
            self.is_inside = True
            self.visit(node.arguments[0])
            self.is_inside = False

    def check_whole(self, node: Node) -> None:
        if self.reductions != 1:
            hint = did_you_mean("", REDUCTIONS) or f"write one of {', '.join(REDUCTIONS)}"
            self.report(node, f"a reduction is needed, found {self.reductions}", hint)


def lowering_tree(node: Node) -> Any:
    """The formula as nested tuples ``(word, operand, ...)``.

    Names are strings, numbers themselves; words are the functions, the operators, ``where``, ``is_none`` and
    REDUCTIONS.
    """
    if isinstance(node, (nodes.Number, nodes.Boolean)):
        return node.value
    if isinstance(node, nodes.Name):
        return CONSTANTS.get(node.name, node.name)
    if isinstance(node, nodes.Unary):
        return ("negative" if node.operator == "-" else "not", lowering_tree(node.operand))

    if isinstance(node, nodes.Compare):
        return _comparison(node)
    if isinstance(node, nodes.Conditional):
        return ("where", *map(lowering_tree, nodes.children(node)))
    if isinstance(node, Call):
        return (node.function, *map(lowering_tree, node.arguments))
    assert isinstance(node, (nodes.Binary, nodes.Logical))
    return (node.operator, lowering_tree(node.left), lowering_tree(node.right))


def _comparison(node: nodes.Compare) -> Any:
    if is_none_test(node):
        test = ("is_none", lowering_tree(node.operands[0]))
        return test if node.operators[0] == "==" else ("not", test)

    operands = [lowering_tree(operand) for operand in node.operands]
    pairs = [(sign, a, b) for sign, a, b in zip(node.operators, operands, operands[1:])]
    tree = pairs[0]
    for pair in pairs[1:]:
        tree = ("and", tree, pair)
    return tree
