"""Formulas over rows: ``log(sum(exp(self)))``.

In the ``expr:`` of a reduction, and of an operator along a ``dim``, a tensor stands for the elements of a
row, which REDUCTIONS make one number. A part of such a formula either *varies* along its row or belongs to
the row as a whole. ``count`` is the number of elements in a row.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from codegen.expressions import nodes
from codegen.expressions.nodes import Binary, Call, Name, Node, Number
from codegen.expressions.simplify import simplify, split_product, with_factors
from codegen.remembered import recently, remembered

COUNT = "count"
# Arguments that say which rows there are, and are not numbers of the formula.
ROW_ARGUMENTS = ("dim", "keepdim", "dtype")


class Reduction(NamedTuple):
    """How the elements of a row become one number."""

    name: str
    functor: str  # in aten/iteration/RowOps.h
    numpy: str  # over {0} and the name ``axis``
    operator: str  # of tensors: NAME(x, dim, keepdim)
    latex: str  # over {0}
    note: str
    boolean: bool = False  # takes and gives truth values
    of_complex: bool = True  # whether complex numbers have such a one


_TABLE = (
    Reduction(
        "sum",
        "RowSum",
        "np.sum({0}, axis=axis, keepdims=True)",
        "sum",
        r"\sum {0}",
        "in the order of other sums: pairwise, float16 and bfloat16 in float32",
    ),
    Reduction(
        "mean",
        "",  # a sum, divided
        "np.mean({0}, axis=axis, keepdims=True)",
        "mean",
        r"\operatorname{{mean}}\left({0}\right)",
        "the sum divided by `count`; nan if a row has no elements",
    ),
    Reduction(
        "product",
        "RowProduct",
        "np.prod({0}, axis=axis, keepdims=True)",
        "prod",
        r"\prod {0}",
        "1 if a row has no elements. It has a first derivative, also where elements are zero, but not a "
        "second one",
    ),
    Reduction(
        "amax",
        "RowMaximum",
        "np.max(1.0 * ({0}), axis=axis, keepdims=True, initial=-np.inf)",
        "_row_extremum",
        r"\max {0}",
        "the largest element; nan if an element is nan, -inf if a row has no elements. Equal elements share "
        "the gradient",
        of_complex=False,
    ),
    Reduction(
        "amin",
        "RowMinimum",
        "np.min(1.0 * ({0}), axis=axis, keepdims=True, initial=np.inf)",
        "_row_extremum",
        r"\min {0}",
        "the smallest element; nan if an element is nan, inf if a row has no elements. Equal elements share "
        "the gradient",
        of_complex=False,
    ),
    Reduction(
        "any",
        "RowAny",
        "np.any({0}, axis=axis, keepdims=True)",
        "any",
        r"\operatorname{{any}}\left({0}\right)",
        "whether at least one element is true",
        boolean=True,
    ),
    Reduction(
        "all",
        "RowAll",
        "np.all({0}, axis=axis, keepdims=True)",
        "all",
        r"\operatorname{{all}}\left({0}\right)",
        "whether every element is true",
        boolean=True,
    ),
)
REDUCTIONS: dict[str, Reduction] = {reduction.name: reduction for reduction in _TABLE}


def is_reduction(node: Node) -> bool:
    return isinstance(node, Call) and node.function in REDUCTIONS and len(node.arguments) == 1


@remembered
def has_reductions(node: Node) -> bool:
    return any(map(is_reduction, nodes.walk(node)))


def varies(node: Node, elements: Collection[str]) -> bool:
    """Whether ``node`` differs along a row; ``elements`` are the names of tensors."""
    return _varies(node, frozenset(elements))


@recently
def _varies(node: Node, elements: frozenset[str]) -> bool:
    if is_reduction(node):
        return False
    if isinstance(node, Name):
        return node.name in elements
    return any(_varies(part, elements) for part in nodes.children(node))


def reductions_of(node: Node) -> tuple[Call, ...]:
    """The different reductions in ``node``, each after those inside it."""
    found: dict[Node, None] = {}

    def visit(part: Node) -> None:
        for child in nodes.children(part):
            visit(child)
        if is_reduction(part):
            found[part] = None

    visit(node)
    return tuple(part for part in found if isinstance(part, Call))


def outermost_reductions(node: Node) -> tuple[Call, ...]:
    """The different reductions in ``node`` that are in no other one."""
    if is_reduction(node):
        assert isinstance(node, Call)
        return (node,)
    return tuple(dict.fromkeys(r for part in nodes.children(node) for r in outermost_reductions(part)))


def replaced(node: Node, values: dict[Node, Node]) -> Node:
    """``node`` with whole parts replaced, outermost first."""
    if node in values:
        return values[node]
    return nodes.rebuild(node, lambda part: replaced(part, values))


def without_means(node: Node) -> Node:
    """Means as sums that are divided by the number of elements."""
    node = nodes.rebuild(node, without_means)
    if isinstance(node, Call) and node.function == "mean" and is_reduction(node):
        return Binary("/", Call("sum", node.arguments), Name(COUNT))
    return node


def with_means(node: Node) -> Node:
    """The reverse: sums that are divided by the number of elements as means."""
    node = nodes.rebuild(node, with_means)
    if isinstance(node, Binary) and node.operator in ("*", "/") and COUNT in nodes.names(node):
        return with_factors(node, _means_of_factors)
    return node


def _means_of_factors(powers: dict[Node, int]) -> dict[Node, int]:
    found: dict[Node, int] = {}
    divisors = max(0, -powers.pop(Name(COUNT), 0)) if powers.get(Name(COUNT), 0) < 0 else 0
    for base, power in powers.items():
        is_sum = isinstance(base, Call) and base.function == "sum" and is_reduction(base)
        means = min(divisors, max(0, power)) if is_sum and not _is_truth(base) else 0
        divisors -= means
        if means:
            assert isinstance(base, Call)
            found[Call("mean", base.arguments)] = means
        if power != means:
            found[base] = power - means
    if divisors:
        found[Name(COUNT)] = -divisors
    return found


def _is_truth(node: Node) -> bool:
    """Whether truth values are added up, of which tensors have no mean."""
    return isinstance(nodes.children(node)[0], (nodes.Compare, nodes.Logical))


def simplify_rows(node: Node, elements: Collection[str]) -> Node:
    """``simplify``, which also moves what is the same along a row out of sums."""
    names = frozenset(elements)
    while (better := simplify(_outside(simplify(node), names))) != node:
        node = better
    return node


def _outside(node: Node, elements: frozenset[str]) -> Node:
    node = nodes.rebuild(node, lambda part: _outside(part, elements))
    if isinstance(node, Binary) and node.operator in ("+", "-"):
        return _same_choice(node, elements)
    if not isinstance(node, Call) or not is_reduction(node) or node.function not in ("sum", "mean"):
        return node

    argument = simplify(node.arguments[0])
    if _adds_up_to_zero(argument, elements):
        return Number(0)
    if isinstance(argument, Call) and argument.function == "where":
        condition, *branches = argument.arguments
        if not _varies(condition, elements):
            chosen = (_outside(Call(node.function, (branch,)), elements) for branch in branches)
            return Call("where", (condition, *chosen))

    outside, inside = split_product(argument, lambda factor: _varies(factor, elements))
    if inside == Number(0):
        return Number(0)
    if inside == Number(1):
        return outside if node.function == "mean" else Binary("*", outside, Name(COUNT))
    return Binary("*", outside, Call(node.function, (inside,)))


def _same_choice(node: Binary, elements: frozenset[str]) -> Node:
    """``where(c, a, b) + where(c, d, e)`` as one choice, if it is the same for the whole row."""
    left, right = node.left, node.right
    if not isinstance(left, Call) or not isinstance(right, Call) or left.function != right.function:
        return node
    if left.function != "where" or left.arguments[0] != right.arguments[0]:
        return node
    condition = left.arguments[0]
    if _varies(condition, elements):
        return node
    pairs = zip(left.arguments[1:], right.arguments[1:])
    return Call("where", (condition, *(Binary(node.operator, ours, theirs) for ours, theirs in pairs)))


def _adds_up_to_zero(node: Node, elements: frozenset[str]) -> bool:
    """Whether ``node`` is the difference of something and its mean, ``x - sum(x) / count``."""
    if not isinstance(node, Binary) or node.operator not in ("+", "-") or not _varies(node, elements):
        return False
    if all(_varies(part, elements) for part in (node.left, node.right)):
        return False

    total: Node = Number(0)
    for part, operator in ((node.left, "+"), (node.right, node.operator)):
        whole = Call("sum", (part,)) if _varies(part, elements) else Binary("*", Name(COUNT), part)
        total = Binary(operator, total, whole)
    return simplify(total) == Number(0)
