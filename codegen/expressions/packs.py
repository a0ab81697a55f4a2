"""Which formulas compute vectors of floats, the packs of aten/vec/pack.h, as they compute numbers."""

from __future__ import annotations

from codegen.expressions import nodes
from codegen.expressions.functions import PACKED
from codegen.expressions.nodes import Call, Node
from codegen.expressions.print_cpp_scalar import prints_as_product


def takes_packs(node: Node) -> bool:
    """Whether ``node``, a number, computes packs as ``cpp_expr`` prints it.

    Packs have the functions of aten/vec/pack_functions.h, and truth values only as conditions.
    """
    if isinstance(node, (nodes.Number, nodes.Name)):
        return True
    if isinstance(node, nodes.Unary):
        return node.operator == "-" and takes_packs(node.operand)
    if isinstance(node, nodes.Binary):
        if node.operator == "**":
            return prints_as_product(node)
        return node.operator in ("+", "-", "*", "/") and takes_packs(node.left) and takes_packs(node.right)

    if isinstance(node, nodes.Conditional):
        node = Call("where", (node.condition, node.then, node.otherwise))
    if not isinstance(node, Call):
        return False
    if node.function == "where":
        condition, *values = node.arguments
        return _is_pack_condition(condition) and all(map(takes_packs, values))
    return node.function in PACKED and all(map(takes_packs, node.arguments))


def _is_pack_condition(node: Node) -> bool:
    if isinstance(node, nodes.Compare):
        return all(map(takes_packs, node.operands))
    return isinstance(node, nodes.Logical) and all(map(_is_pack_condition, (node.left, node.right)))
