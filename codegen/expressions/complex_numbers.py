"""Which parts of a formula are real where its tensors are complex, and how conjugates simplify.

``complex_names`` are the names that stand for complex numbers: tensors, and arguments of type Scalar. Other
names are real. A formula that is compiled for real dtypes as well computes the same there, as conj and real
then change nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from codegen.expressions import nodes
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Binary, Call, Compare, Name, Node, Number, Unary
from codegen.expressions.rows import REDUCTIONS, is_reduction
from codegen.expressions.scope import OperatorLike
from codegen.expressions.simplify import simplify, split_product
from codegen.remembered import recently


def complex_names_of(operator: OperatorLike, dtypes: Collection[str]) -> frozenset[str]:
    """The arguments that may be complex, and the gradient and the result; none if no dtype is complex."""
    if complex_dtype(dtypes) is None:
        return frozenset()
    arguments = operator.schema.arguments
    scalars = [a.name for a in arguments.non_tensors if a.type.base.name == "Scalar"]
    return frozenset([*(a.name for a in arguments.tensors), *scalars, "grad", "result"])


def complex_dtype(dtypes: Collection[str]) -> str | None:
    """The first of ``dtypes`` that is complex."""
    return next((dtype for dtype in dtypes if dtype.startswith("complex")), None)


def is_real(node: Node, complex_names: frozenset[str]) -> bool:
    """Whether ``node`` is a real number for all values of the complex ones."""
    return not complex_names or _is_real(node, complex_names)


@recently
def _is_real(node: Node, complex_names: frozenset[str]) -> bool:
    if isinstance(node, Name):
        return node.name not in complex_names
    if isinstance(node, (Compare, nodes.Logical)) or (isinstance(node, Unary) and node.operator == "not"):
        return True

    parts: tuple[Node, ...] = nodes.children(node)
    if isinstance(node, nodes.Conditional) or (isinstance(node, Call) and node.function == "where"):
        parts = parts[1:]
    elif isinstance(node, Call) and is_reduction(node):
        if REDUCTIONS[node.function].boolean:
            return True
    elif isinstance(node, Call) and node.function in FUNCTIONS:
        function = FUNCTIONS[node.function]
        if function.complex_to_real or function.boolean:
            return True
    return all(_is_real(part, complex_names) for part in parts)


def without_complex_value(node: Node, complex_names: frozenset[str]) -> Iterator[Node]:
    """The parts that have no meaning for complex numbers, such as ``a < b``, outermost first."""
    for part in nodes.walk(node):
        if all(is_real(child, complex_names) for child in nodes.children(part)):
            continue
        if isinstance(part, Compare) and any(o not in ("==", "!=") for o in part.operators):
            yield part
        elif isinstance(part, Binary) and part.operator == "%":
            yield part
        elif isinstance(part, Call) and is_reduction(part):
            if not REDUCTIONS[part.function].of_complex:
                yield part
        elif isinstance(part, Call) and part.function in FUNCTIONS:
            if not FUNCTIONS[part.function].of_complex:
                yield part


# Conjugates

_COMMUTING = ("+", "-", "*", "/")


def with_simple_conjugates(node: Node, complex_names: frozenset[str]) -> Node:
    """An equal formula in which conj is applied to names and to what belongs to a row as a whole.

    Real parts of real numbers are these numbers. A sum of conjugates is the conjugate of a sum, and one of
    real parts the real part of a sum, which is then one that the formula may have already.
    """
    if not complex_names:
        return node
    node = nodes.rebuild(node, lambda part: with_simple_conjugates(part, complex_names))
    if not isinstance(node, Call):
        return node

    if node.function == "conj":
        return _conjugate(node.arguments[0], complex_names)
    if node.function == "real":
        return _real_part(node.arguments[0], complex_names)
    if is_reduction(node) and node.function in ("sum", "mean"):
        (elements,) = node.arguments
        if isinstance(elements, Call) and elements.function == "real":
            return Call("real", (Call(node.function, elements.arguments),))
        flipped = _conjugate(elements, complex_names)
        if _conjugates(flipped) < _conjugates(elements):
            return Call("conj", (Call(node.function, (flipped,)),))
    return node


def _real_part(node: Node, complex_names: frozenset[str]) -> Node:
    """Pulls real factors out of the real part."""
    real, other = split_product(simplify(node), lambda factor: not is_real(factor, complex_names))
    if other == Number(1):
        return real
    if isinstance(other, Call) and other.function == "conj":
        other = other.arguments[0]
    part: Node = Call("real", (other,))
    if isinstance(other, Call) and other.function == "where":
        condition, *branches = other.arguments
        part = Call("where", (condition, *(_real_part(branch, complex_names) for branch in branches)))
    return part if real == Number(1) else Binary("*", real, part)


def _conjugate(node: Node, complex_names: frozenset[str]) -> Node:
    if is_real(node, complex_names):
        return node

    def of(part: Node) -> Node:
        return _conjugate(part, complex_names)

    if isinstance(node, Unary) or (isinstance(node, Binary) and node.operator in _COMMUTING):
        return nodes.rebuild(node, of)
    if isinstance(node, Binary) and node.operator == "**" and isinstance(node.right, Number):
        return Binary("**", of(node.left), node.right)
    if not isinstance(node, Call):
        return Call("conj", (node,))

    if node.function == "conj":
        return node.arguments[0]
    if node.function == "where":
        condition, then, otherwise = node.arguments
        return Call("where", (condition, of(then), of(otherwise)))
    # Functions that are real for real numbers: f(conj(z)) is conj(f(z)).
    if node.function in FUNCTIONS and FUNCTIONS[node.function].holomorphic:
        return nodes.rebuild(node, of)
    return Call("conj", (node,))


def with_real_sums(node: Node) -> Node:
    """The reverse for real parts: sums of real numbers take less time than those of complex ones."""
    node = nodes.rebuild(node, with_real_sums)
    if isinstance(node, Call) and node.function == "real" and is_reduction(node.arguments[0]):
        total = node.arguments[0]
        if isinstance(total, Call) and total.function in ("sum", "mean"):
            return Call(total.function, (Call("real", total.arguments),))
    return node


def with_squared_magnitudes(node: Node, complex_names: frozenset[str]) -> Node:
    """``abs(z) ** 2`` as ``real(z * conj(z))``, which takes no root."""
    if not complex_names:
        return node
    node = nodes.rebuild(node, lambda part: with_squared_magnitudes(part, complex_names))
    if not isinstance(node, Binary) or node.operator != "**" or node.right != Number(2):
        return node
    if not isinstance(node.left, Call) or node.left.function != "abs":
        return node
    (part,) = node.left.arguments
    called = [p for p in nodes.walk(part) if isinstance(p, Call) and not is_reduction(p)]
    if called or is_real(part, complex_names):  # what is called would be computed twice
        return node
    return Call("real", (Binary("*", part, Call("conj", (part,))),))


def _conjugates(node: Node) -> int:
    return sum(isinstance(part, Call) and part.function == "conj" for part in nodes.walk(node))
