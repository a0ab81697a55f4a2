"""Which formulas compute vectors of floats, the packs of aten/vec/pack.h, as they compute numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection

from codegen.expressions import nodes
from codegen.expressions.functions import PACKED
from codegen.expressions.nodes import Call, Node
from codegen.expressions.print_cpp_scalar import prints_as_product

# What aten/iteration/RowPacks.h adds for formulas over rows.
_OF_ROWS = PACKED | {"real"}


def takes_packs(node: Node, functions: Collection[str] = PACKED) -> bool:
    """Whether ``node``, a number, computes packs as ``cpp_expr`` prints it.

    Packs have the functions of aten/vec/pack_functions.h, and truth values only as conditions.
    """

    def takes(part: Node) -> bool:
        return takes_packs(part, functions)

    if isinstance(node, (nodes.Number, nodes.Name)):
        return True
    if isinstance(node, nodes.Unary):
        return node.operator == "-" and takes(node.operand)
    if isinstance(node, nodes.Binary):
        if node.operator == "**":
            return prints_as_product(node)
        return node.operator in ("+", "-", "*", "/") and takes(node.left) and takes(node.right)

    if isinstance(node, nodes.Conditional):
        node = Call("where", (node.condition, node.then, node.otherwise))
    if not isinstance(node, Call):
        return False
    if node.function == "where":
        condition, *values = node.arguments
        return _is_pack_condition(condition, takes) and all(map(takes, values))
    return node.function in functions and all(map(takes, node.arguments))


def takes_packs_of(node: Node, elements: Collection[str]) -> bool:
    """The same where ``elements`` alone are packs, and other names numbers.

    C++ chooses between packs, but not by a number between a number and a pack.
    """
    return takes_packs(node, _OF_ROWS) and all(_chooses_alike(part, elements) for part in nodes.walk(node))


def _chooses_alike(node: Node, elements: Collection[str]) -> bool:
    def is_pack(part: Node) -> bool:
        return any(name in elements for name in nodes.names(part))

    if isinstance(node, nodes.Logical):
        return is_pack(node.left) == is_pack(node.right)
    if isinstance(node, nodes.Compare):
        pairs = [is_pack(a) or is_pack(b) for a, b in zip(node.operands, node.operands[1:])]
        return all(pairs) or not any(pairs)
    if isinstance(node, nodes.Conditional) or (isinstance(node, Call) and node.function == "where"):
        condition, then, otherwise = nodes.children(node)
        return is_pack(condition) or is_pack(then) == is_pack(otherwise)
    return True


def _is_pack_condition(node: Node, takes: Callable[[Node], bool]) -> bool:
    if isinstance(node, nodes.Compare):
        return all(map(takes, node.operands))
    if not isinstance(node, nodes.Logical):
        return False
    return _is_pack_condition(node.left, takes) and _is_pack_condition(node.right, takes)
