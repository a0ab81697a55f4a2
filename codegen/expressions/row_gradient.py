"""The gradient of a formula over rows.

Note [Gradients of formulas over rows]. Reductions are taken from the last to the first, as backward takes
operators. Each has an adjoint, the gradient of its number, which reaches the elements that it was made from:
a sum passes it to all of them, an extremum to the elements that equal it. Where a later reduction used an
earlier one, the adjoint of the earlier one gets a sum over the row. What comes out is a formula over rows
again.

Of complex numbers, an adjoint a becomes a * conj(dw/dz) + conj(a) * dw/d(conj z) at z, by Wirtinger's
derivatives, and the adjoint of what is real is the real part of that.
"""

from __future__ import annotations

from collections.abc import Collection

from codegen.expressions import nodes
from codegen.expressions.complex_numbers import is_real, with_real_sums, with_simple_conjugates
from codegen.expressions.differentiate import complex_derivatives, differentiate, refuse_hidden_names
from codegen.expressions.errors import ExpressionError, FormulaProblem
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Binary, Call, Compare, Name, Node, Number
from codegen.expressions.rows import (
    COUNT,
    REDUCTIONS,
    outermost_reductions,
    reductions_of,
    replaced,
    simplify_rows,
    varies,
    with_means,
    without_means,
)
from codegen.expressions.scope import OperatorLike
from codegen.expressions.simplify import ONE, ZERO, distribute, factors_of, simplify, split_product, terms_of

GRAD = "grad"
RESULT = "result"


def row_gradient(
    expr: Node,
    argument: str,
    tensors: Collection[str],
    is_reduced: bool,
    complex_names: frozenset[str] = frozenset(),
) -> Node:
    """The gradient of ``argument``, a formula over rows of ``grad`` and the arguments.

    ``is_reduced`` tells that ``expr`` gives one number for each row, as does then ``grad``.
    ``complex_names`` stand for complex numbers. Raises ExpressionError at what has no derivative.
    """
    if is_real(expr, complex_names):
        complex_names -= {GRAD, RESULT}
    elements = frozenset(tensors) if is_reduced else frozenset([*tensors, GRAD])
    gradient = _Reverse(expr, argument, elements, is_reduced, complex_names).gradient()
    gradient = with_means(_with_result(gradient, expr, elements, is_reduced, complex_names))
    return with_real_sums(gradient) if complex_names else gradient


def _simplified(node: Node, elements: frozenset[str], complex_names: frozenset[str]) -> Node:
    found = simplify_rows(node, elements)
    if not complex_names:
        return found
    while (better := simplify_rows(with_simple_conjugates(found, complex_names), elements)) != found:
        found = better
    return found


class _Reverse:
    def __init__(
        self,
        expr: Node,
        argument: str,
        elements: frozenset[str],
        is_reduced: bool,
        complex_names: frozenset[str],
    ) -> None:
        self.argument = argument
        self.elements = elements
        self.is_reduced = is_reduced
        self.complex_names = complex_names
        self.reductions = [r for r in reductions_of(without_means(expr))]

        # Reductions get names, over which the formula and what they reduce are pointwise.
        self.names: dict[Node, Node] = {r: Name(f"reduction {i}") for i, r in enumerate(self.reductions)}
        self.formula = replaced(without_means(expr), self.names)
        self.reduced = [replaced(r.arguments[0], self.names) for r in self.reductions]
        self.complex_reductions = frozenset(
            nodes.to_source(name) for r, name in self.names.items() if not is_real(r, complex_names)
        )

    def gradient(self) -> Node:
        grad = Name(GRAD)
        adjoints = [self.over_row(self.times(grad, self.formula, i)) for i in range(len(self.reductions))]
        total: Node = ZERO if self.is_reduced else self.product(grad, self.formula, self.argument)

        for i in reversed(range(len(self.reductions))):
            if self.argument not in nodes.names(self.reductions[i]):
                continue
            adjoint = self.restored(adjoints[i])
            if adjoint == ZERO:
                continue
            element = self.reach(i, adjoint)
            if element == ZERO:
                continue

            total = Binary("+", total, self.product(element, self.reduced[i], self.argument))
            for j in range(i):
                through = self.times(element, self.reduced[i], j)
                adjoints[j] = Binary("+", adjoints[j], _sum(through))

        return self.restored(total)

    def over_row(self, node: Node) -> Node:
        return node if self.is_reduced else _sum(node)

    def times(self, factor: Node, formula: Node, reduction: int) -> Node:
        return self.product(factor, formula, f"reduction {reduction}")

    def product(self, factor: Node, formula: Node, name: str) -> Node:
        """What the adjoint of ``formula`` adds to that of ``name``."""
        if self.complex_names:
            return self.complex_product(factor, formula, name)
        slope = differentiate(formula, name)
        return ZERO if slope == ZERO else Binary("*", factor, slope)

    def complex_product(self, factor: Node, formula: Node, name: str) -> Node:
        complex_names = self.complex_names | self.complex_reductions
        direct, flipped = complex_derivatives(formula, name, complex_names)
        if name in complex_names and is_real(formula, complex_names) and is_real(factor, self.complex_names):
            return Binary("*", Number(2), Binary("*", factor, flipped))  # direct is conj(flipped)

        found: Node = ZERO
        if direct != ZERO:
            found = Binary("*", factor, Call("conj", (direct,)))
        if flipped != ZERO:
            found = Binary("+", found, Binary("*", Call("conj", (factor,)), flipped))
        if found == ZERO or name in complex_names:
            return found
        return Call("real", (found,))

    def restored(self, node: Node) -> Node:
        back = {name: reduction for reduction, name in self.names.items()}
        return _simplified(replaced(node, back), self.elements, self.complex_names)

    def reach(self, i: int, adjoint: Node) -> Node:
        """The gradient of the elements of a reduction."""
        reduction = self.reductions[i]
        elements = reduction.arguments[0]
        if REDUCTIONS[reduction.function].boolean:
            return ZERO
        if reduction.function == "sum":
            return adjoint
        if reduction.function == "product":
            others = _product_of_others(reduction)
            return Binary("*", adjoint, Call("conj", (others,)) if self.complex_names else others)
        if reduction.function not in ("amax", "amin"):
            raise ExpressionError(f"'{reduction.function}' has no derivative rule", reduction.offset)

        # Elements that equal the extremum share its gradient. Nothing equals nan: 0 / 0 is nan.
        chosen = Call("where", (Compare(("==",), (elements, reduction)), ONE, ZERO))
        return Binary("/", Binary("*", adjoint, chosen), _sum(chosen))


def _product_of_others(product: Call) -> Node:
    """For each element of a product, the product of the others.

    It is the product divided by the element, unless elements are zero: a single zero has the product of all
    others, which then have 0; with several zeros, all have 0.
    """
    (elements,) = product.arguments
    if _is_without_zeros(elements):
        hint = "write 'derivatives:' over operators of tensors, such as prod"
        message = "'product' of elements without zeros, as in its own derivative, has no derivative rule"
        raise ExpressionError(message, product.offset, hint)

    is_zero = _equals(elements, 0)
    zeros = _sum(Call("where", (is_zero, ONE, ZERO)))
    nonzero = Call("product", (Call("where", (is_zero, ONE, elements)),))
    of_zero = Call("where", (_equals(zeros, 1), nonzero, ZERO))
    of_others = Call("where", (_equals(zeros, 0), Binary("/", nonzero, elements), ZERO))
    return Call("where", (is_zero, of_zero, of_others))


def _is_without_zeros(elements: Node) -> bool:
    """Whether it is ``where(x == 0, 1, x)``. As a formula, its slope at a zero is not that of a product."""
    if not isinstance(elements, Call) or elements.function != "where":
        return False
    condition, then, otherwise = elements.arguments
    return then == ONE and condition == _equals(otherwise, 0)


def _equals(node: Node, number: int) -> Node:
    return Compare(("==",), (node, Number(number)))


def check_row_differentiable(
    expr: Node, operator: OperatorLike, is_reduced: bool, complex_names: frozenset[str] = frozenset()
) -> list[FormulaProblem]:
    """The reasons why an operator with ``expr`` over rows needs ``derivatives:``."""
    tensors = [argument.name for argument in operator.schema.arguments.tensors]
    problems: dict[FormulaProblem, None] = {}
    for name in tensors:
        try:
            refuse_hidden_names(expr, operator)
            row_gradient(expr, name, tensors, is_reduced, complex_names)
        except ExpressionError as error:
            hint = error.hint or "write 'derivatives:' or 'non_differentiable:'"
            problems[FormulaProblem(error.offset, error.message, hint)] = None
    return list(problems)


def _sum(node: Node) -> Node:
    return ZERO if node == ZERO else Call("sum", (node,))


# The result of the forward call


def _with_result(
    gradient: Node, expr: Node, elements: frozenset[str], is_reduced: bool, complex_names: frozenset[str]
) -> Node:
    """``gradient`` in terms of ``result`` where that takes fewer passes and functions.

    The gradient of softmax is then ``result * (grad - sum(grad * result))``, that of logsumexp
    ``grad * exp(self - result)``.
    """
    best = gradient
    named = elements if is_reduced else elements | {RESULT}
    for part, value in _solved(_simplified(without_means(expr), elements, complex_names), elements):
        # The reductions of the value may contain the part; they stay as they are.
        kept = outermost_reductions(value)
        names: dict[Node, Node] = {r: Name(f"kept {i}") for i, r in enumerate(kept)}
        own = complex_names | {f"kept {i}" for i, r in enumerate(kept) if not is_real(r, complex_names)}

        found = replaced(replaced(gradient, names), _replacements(part, value, names, own))
        found = _simplified(_with_merged_exponentials(_simplified(found, named, own)), named, own)
        for variant in (found, distribute(found)):
            back = replaced(variant, {name: r for r, name in names.items()})
            restored = _simplified(back, named, complex_names)
            if _cost(restored) < _cost(best):
                best = restored
    return best


def _replacements(
    part: Node, value: Node, names: dict[Node, Node], complex_names: frozenset[str]
) -> dict[Node, Node]:
    """``value`` in place of ``part``, and its conjugate in place of that of ``part``."""
    found = {replaced(part, names): replaced(value, names)}
    if complex_names:
        conjugates = (Call("conj", (replaced(node, names),)) for node in (part, value))
        of_part, of_value = (with_simple_conjugates(node, complex_names) for node in conjugates)
        found.setdefault(of_part, of_value)
    return found


def _solved(expr: Node, elements: frozenset[str]) -> list[tuple[Node, Node]]:
    """Parts of ``expr`` in terms of its result: x of x / s, s of log(s) + m."""
    result = Name(RESULT)
    found: list[tuple[Node, Node]] = [(expr, result)]

    # A factor that differs along the row. The others are divisors: nothing is divided by what may be 0.
    rest, factor = split_product(expr, lambda part: isinstance(part, Call) and varies(part, elements))
    if isinstance(factor, Call) and factor.function in FUNCTIONS:
        if all(power < 0 for power in factors_of(rest).values()):
            found.append((factor, simplify(Binary("/", result, rest))))

    # A logarithm among the terms.
    for sign, term in terms_of(expr):
        if isinstance(term, Call) and term.function == "log":
            others = Binary("-", result, Binary("-", expr, term) if sign > 0 else Binary("+", expr, term))
            exponent = simplify(others if sign > 0 else nodes.Unary("-", others))
            found.append((term.arguments[0], Call("exp", (exponent,))))
    return found


def _with_merged_exponentials(node: Node) -> Node:
    """``exp(a) / exp(b)`` as ``exp(a - b)``."""
    node = nodes.rebuild(node, _with_merged_exponentials)
    if not isinstance(node, Binary) or node.operator not in ("*", "/"):
        return node
    rest, exponentials = split_product(node, lambda part: isinstance(part, Call) and part.function == "exp")
    exponent: Node = ZERO
    count = 0
    for base, power in _powers(exponentials):
        exponent = Binary("+", exponent, Binary("*", Number(power), base))
        count += 1
    if count < 2:
        return node
    return Binary("*", rest, Call("exp", (simplify(exponent),)))


def _powers(product: Node) -> list[tuple[Node, int]]:
    """The arguments and powers of a product of exponentials."""
    if isinstance(product, Call):
        return [(product.arguments[0], 1)]
    if isinstance(product, Binary) and product.operator == "**" and isinstance(product.right, Number):
        return [(base, power * int(product.right.value)) for base, power in _powers(product.left)]
    if isinstance(product, Binary) and product.operator in ("*", "/"):
        sign = 1 if product.operator == "*" else -1
        return [*_powers(product.left), *((base, sign * power) for base, power in _powers(product.right))]
    return []


def _cost(node: Node) -> tuple[int, int, int]:
    """Reductions, functions, and the size of the formula."""
    parts = set(nodes.walk(node))
    called = sum(1 for part in parts if isinstance(part, Call) and part.function in FUNCTIONS)
    counts = sum(1 for part in parts if part == Name(COUNT))
    return len(reductions_of(node)), called, len(parts) + counts
