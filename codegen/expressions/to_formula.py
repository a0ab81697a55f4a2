"""Turns ``expr:`` into a formula over tensor operators, for higher derivatives."""

from __future__ import annotations

from collections.abc import Collection

from codegen.expressions import nodes
from codegen.expressions.functions import (
    CONSTRUCTS,
    FUNCTIONS,
    MIRRORED,
    NUMBER_AS_TENSOR,
    ONES_LIKE,
    ZEROS_LIKE,
)
from codegen.expressions.nodes import Binary, Call, Compare, Logical, Name, Node, Number
from codegen.expressions.rows import COUNT, REDUCTIONS, is_reduction
from codegen.expressions.scope import OperatorLike


def to_formula(node: Node, operator: OperatorLike, tensors: Collection[str] = ()) -> Node:
    """``node`` in terms of operators: ``where``, ``pow``, ``lt``, ``logical_and`` ... and ``+ - * /``.

    Tensors are the tensor arguments of ``operator``, ``grad``, ``result`` and the names in ``tensors``. What
    holds no tensor stays arithmetic of numbers.
    """
    own = [argument.name for argument in operator.schema.arguments.tensors]
    return _Conversion(frozenset([*own, "grad", "result", *tensors]), _Rows(operator)).of(node)


def operators_of(formula: Node) -> tuple[str, ...]:
    """Base names of the operators that a formula calls, in order of first use."""
    return tuple(dict.fromkeys(part.function for part in nodes.walk(formula) if isinstance(part, Call)))


class _Rows:
    """Reductions over the rows of an operator, as operators over its ``dim``."""

    def __init__(self, operator: OperatorLike) -> None:
        self.dim = operator.schema.arguments.find("dim")
        self.is_used = self.dim is not None and operator.schema.arguments.find(COUNT) is None
        self.first = Name(operator.schema.arguments.tensors[0].name) if self.is_used else None

    def reduced(self, function: str, elements: Node) -> Node:
        assert self.dim is not None
        dim: Node = Name(self.dim.name)
        dims = dim if self.dim.type.is_list else nodes.ListOf((dim,))
        last = nodes.Boolean(function != "amin") if function in ("amax", "amin") else nodes.Boolean(True)
        return Call(REDUCTIONS[function].operator, (elements, dims, last))

    def count(self) -> Node:
        assert self.first is not None
        return self.reduced("sum", Call(ONES_LIKE, (self.first,)))


class _Conversion:
    def __init__(self, tensors: frozenset[str], rows: _Rows) -> None:
        self.tensors = tensors | {COUNT} if rows.is_used else tensors
        self.rows = rows

    def is_tensor(self, node: Node) -> bool:
        return not self.tensors.isdisjoint(nodes.names(node))

    def of(self, node: Node) -> Node:
        if isinstance(node, nodes.Conditional) or (isinstance(node, Call) and node.function == "where"):
            return self.choice(*nodes.children(node))

        if not self.is_tensor(node):
            return node

        if isinstance(node, Compare):
            return self.comparison(node)
        if isinstance(node, Logical):
            return Call(CONSTRUCTS[node.operator], (self.truth(node.left), self.truth(node.right)))
        if isinstance(node, nodes.Unary) and node.operator == "not":
            return Call(CONSTRUCTS["not"], (self.truth(node.operand),))

        if isinstance(node, Binary) and node.operator in ("**", "%"):
            return Call(CONSTRUCTS[node.operator], (self.of(node.left), self.of(node.right)))

        if self.rows.is_used and is_reduction(node):
            assert isinstance(node, Call)
            return self.rows.reduced(node.function, self.of(node.arguments[0]))
        if self.rows.is_used and node == Name(COUNT):
            return self.rows.count()

        node = nodes.rebuild(node, self.of)
        if isinstance(node, Call) and node.function in FUNCTIONS:
            return Call(FUNCTIONS[node.function].tensor_operator, node.arguments)

        return node

    def truth(self, node: Node) -> Node:
        """An operand of logical_and: a number among tensors becomes a tensor."""
        if self.is_tensor(node):
            return self.of(node)
        return Call(NUMBER_AS_TENSOR, (self.of(node),))

    def comparison(self, node: Compare) -> Node:
        """The tensor comes first: ``0 < x`` is ``gt(x, 0)``; a chain is joined by logical_and."""
        parts: list[Node] = []

        for operator, left, right in zip(node.operators, node.operands, node.operands[1:]):
            if not self.is_tensor(left) and self.is_tensor(right):
                left, right, operator = right, left, MIRRORED[operator]
            if self.is_tensor(left):
                parts.append(Call(CONSTRUCTS[operator], (self.of(left), self.of(right))))
            else:
                parts.append(Call(NUMBER_AS_TENSOR, (Compare((operator,), (left, right)),)))

        result = parts[0]
        for part in parts[1:]:
            result = Call(CONSTRUCTS["and"], (result, part))

        return result

    def choice(self, condition: Node, then: Node, otherwise: Node) -> Node:
        if not self.is_tensor(condition):
            return nodes.Conditional(condition, self.of(then), self.of(otherwise))
        then, otherwise = self.of(then), self.of(otherwise)
        if not self.is_tensor(then) and not self.is_tensor(otherwise):
            # where(tensor, 1, 0) would have the default dtype: this gives it the dtype of a tensor at hand.
            like = next(
                part for part in nodes.walk(condition) if isinstance(part, Name) and part.name in self.tensors
            )
            then = (
                Binary("+", Call(ZEROS_LIKE, (like,)), then)
                if then != Number(0)
                else Call(ZEROS_LIKE, (like,))
            )
        return Call(CONSTRUCTS["? :"], (self.of(condition), then, otherwise))
