"""Simplifies derivatives: folds constants, collects like terms and factors, reuses ``result``.

Only for the pointwise language of ``expr:``. A product is held as a rational coefficient and powers of
factors, a sum as coefficients of products; both are rebuilt in the order in which their parts first appear.
``0 * x`` is 0 for every x: in a derivative a zero coefficient means that the argument has no influence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction

from codegen.expressions import nodes
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Binary, Boolean, Call, Compare, Logical, Name, Node, Number, Unary
from codegen.remembered import recently

ZERO = Number(0)
ONE = Number(1)
# Fractions never change, and cost more to make than to look up.
_NOTHING = Fraction(0)
_WHOLE = Fraction(1)

# x ** n is collected with other powers of x up to this n.
_LARGEST_POWER = 64


# No formula of the library needs more than three.
_MOST_PASSES = 8


@recently
def simplify(node: Node) -> Node:
    """An equal expression in the normal form of this module; simplifying again changes nothing.

    A pass orders the terms of a sum, and the next one may find common factors in a part of them.
    """
    for _ in range(_MOST_PASSES):
        found = _simplified_once(node)
        if found == node:
            break
        node = found
    return node


@recently
def _simplified_once(node: Node) -> Node:
    if isinstance(node, nodes.Conditional):
        node = Call("where", (node.condition, node.then, node.otherwise), offset=node.offset)
    if isinstance(node, Call) and node.function == "pow" and len(node.arguments) == 2:
        node = Binary("**", *node.arguments, offset=node.offset)

    node = nodes.rebuild(node, simplify)

    if isinstance(node, Call):
        return _simplify_call(node)
    if isinstance(node, (Compare, Logical)) or (isinstance(node, Unary) and node.operator == "not"):
        return _simplify_condition(node)

    if isinstance(node, (Binary, Unary)):
        if isinstance(node, Binary) and node.operator == "%":
            return node
        return _build_sum(_sum_of(node))

    return node


@recently
def number_of(node: Node) -> Fraction | None:
    """The value of a finite literal, with its sign."""
    if isinstance(node, Unary) and node.operator == "-":
        value = number_of(node.operand)
        return None if value is None else -value
    if isinstance(node, Number) and (isinstance(node.value, int) or math.isfinite(node.value)):
        value = Fraction(node.value)
        return value if _is_literal(value) else None
    if isinstance(node, Binary) and node.operator == "/":  # 1 / 3, as _literal writes it
        top = number_of(node.left)
        bottom = number_of(node.right)
        return top / bottom if top is not None and bottom and _is_literal(top / bottom) else None
    return None


def _is_literal(value: Fraction) -> bool:
    """Whether ``value`` can be written: as 0, or as a float that is neither 0 nor infinite."""
    try:
        return not value or float(value) != 0
    except OverflowError:
        return False


# Calls and conditions


def _simplify_call(node: Call) -> Node:

    if node.function == "where" and len(node.arguments) == 3:
        condition, then, otherwise = node.arguments
        if isinstance(condition, Boolean):
            return then if condition.value else otherwise
        then, otherwise = _chosen(then, condition, 1), _chosen(otherwise, condition, 2)
        return then if then == otherwise else Call("where", (condition, then, otherwise), offset=node.offset)

    if node.function in _OF_COMPLEX and len(node.arguments) == 1:
        return _simplify_complex(node)

    values = [number_of(argument) for argument in node.arguments]
    function = getattr(math, _MATH_NAMES.get(node.function, node.function), None)
    if function is None or not node.arguments or any(value is None for value in values):
        return node
    if node.function not in FUNCTIONS or FUNCTIONS[node.function].boolean:
        return node

    try:
        result = function(*(float(value) for value in values if value is not None))
    except (ValueError, OverflowError, TypeError):
        return node
    return _literal(Fraction(result)) if math.isfinite(result) else node


def _simplify_complex(node: Call) -> Node:
    """Literals are real, and conj is its own inverse."""
    (argument,) = node.arguments
    if number_of(argument) is not None:
        return ZERO if node.function == "imag" else argument
    if node.function == "conj" and isinstance(argument, Call) and argument.function == "conj":
        return argument.arguments[0]
    return node


def _chosen(branch: Node, condition: Node, which: int) -> Node:
    """A ``where`` of the same condition inside a branch is decided."""
    while isinstance(branch, Call) and branch.function == "where" and branch.arguments[0] == condition:
        branch = branch.arguments[which]
    return branch


# Names of functions of the formula language that take complex numbers apart.
_OF_COMPLEX = ("conj", "real", "imag")
# Where Python's math has another name; "" keeps the call.
_MATH_NAMES = {"abs": "fabs", "round": ""}


def _simplify_condition(node: Compare | Logical | Unary) -> Node:

    if isinstance(node, Unary):
        operand = node.operand
        if isinstance(operand, Boolean):
            return Boolean(not operand.value)
        return operand.operand if isinstance(operand, Unary) and operand.operator == "not" else node

    if isinstance(node, Logical):
        decisive = node.operator == "or"  # true or x; false and x
        for part, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(part, Boolean):
                return Boolean(decisive) if part.value is decisive else other
        return node.left if node.left == node.right else node

    values = [number_of(operand) for operand in node.operands]
    if any(value is None for value in values) or any(operator not in _COMPARE for operator in node.operators):
        return node

    pairs = zip(node.operators, values, values[1:])
    return Boolean(all(_COMPARE[operator](_sign(left, right)) for operator, left, right in pairs))


def _sign(left: Fraction | None, right: Fraction | None) -> int:
    assert left is not None and right is not None
    return (left > right) - (left < right)


_COMPARE = {
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    ">=": lambda sign: sign >= 0,
    "==": lambda sign: sign == 0,
    "!=": lambda sign: sign != 0,
}

# Products


@dataclass
class _Product:
    """coefficient * product of base ** power."""

    coefficient: Fraction
    powers: dict[Node, int]

    def key(self) -> frozenset[tuple[Node, int]]:
        return frozenset(self.powers.items())

    def multiply(self, base: Node, power: int) -> None:
        power += self.powers.get(base, 0)
        if power:
            self.powers[base] = power
        else:
            self.powers.pop(base, None)

    def multiply_by(self, other: _Product, power: int = 1) -> None:
        coefficient = self.coefficient
        if other.coefficient != 1:
            coefficient *= other.coefficient if power == 1 else other.coefficient**power
        if coefficient is self.coefficient or _is_literal(coefficient):
            self.coefficient = coefficient
        else:  # 1e308 * x * 1e308 keeps both: their product overflows, but x may be small
            if other.coefficient < 0 and power % 2:
                self.coefficient = -self.coefficient
            self.multiply(_literal(abs(other.coefficient)), power)
        for base, own in other.powers.items():
            self.multiply(base, own * power)


def _product_of(node: Node) -> _Product:
    """The product of a node whose parts are simplified; a copy that the caller may change."""
    known = _known_product_of(node)
    return _Product(known.coefficient, dict(known.powers))


@recently
def _known_product_of(node: Node) -> _Product:
    value = number_of(node)
    if value is not None:
        return _Product(value, {})

    if isinstance(node, Unary) and node.operator == "-":
        product = _product_of(node.operand)
        product.coefficient = -product.coefficient
        return product

    if isinstance(node, Binary) and node.operator in ("*", "/"):
        product = _product_of(node.left)
        divisor = _product_of(node.right)
        if node.operator == "/" and not divisor.coefficient:  # x / 0 is left as it is
            product.multiply(ZERO, -1)
        else:
            product.multiply_by(divisor, 1 if node.operator == "*" else -1)
        return product if product.coefficient else _Product(_NOTHING, {})

    if isinstance(node, Binary) and node.operator == "**":
        exponent = number_of(node.right)
        if exponent is not None and exponent.denominator == 1 and abs(exponent) <= _LARGEST_POWER:
            return _power_of(node.left, int(exponent))

    if isinstance(node, Binary) and node.operator in ("+", "-"):
        terms = _sum_of(node)
        if len(terms) == 1:
            return terms[0]
        node = _build_sum(terms)

    return _Product(_WHOLE, {node: 1})


def _power_of(base: Node, power: int) -> _Product:
    result = _Product(Fraction(1), {})
    product = _product_of(base)
    if not product.coefficient and power < 0:
        result.multiply(ZERO, power)
    elif _is_literal(product.coefficient**power):
        result.multiply_by(product, power)
    else:  # (1e10 * x) ** 40: 1e10 ** 40 alone would overflow
        result.multiply(base, power)
    return result


def _build_product(product: _Product) -> Node:
    """The product as a node. A negative coefficient becomes a minus in front."""
    if not product.coefficient:
        return ZERO

    pushed = _push_into_where(product)
    if pushed is not None:
        return pushed
    if product.coefficient < 0:
        return _negated(_build_product(_Product(-product.coefficient, product.powers)))

    quotients, single = _pair_quotients(product.powers)
    above = [_build_power(base, power) for base, power in (*quotients, *single) if power > 0]
    below = [_build_power(base, -power) for base, power in single if power < 0]

    front, behind = _split_coefficient(product.coefficient)
    if front != 1 or not above:
        above.insert(0, _literal(front))
    if behind != 1:
        below.insert(0, _literal(Fraction(behind)))

    numerator = _multiply_all(above)
    return Binary("/", numerator, _multiply_all(below)) if below else numerator


def _pair_quotients(powers: dict[Node, int]) -> tuple[list[tuple[Node, int]], list[tuple[Node, int]]]:
    """Quotients to a power, and what is left: (x / y) ** 2 is finite where x * x / (y * y) overflows."""
    quotients: list[tuple[Node, int]] = []
    left = dict(powers)
    for base, power in powers.items():
        if power < 2 or number_of(base) is not None:
            continue
        divisor = next((b for b, p in left.items() if p == -power and number_of(b) is None), None)
        if divisor is not None:
            quotients.append((Binary("/", base, divisor), power))
            del left[base], left[divisor]
    return quotients, list(left.items())


def _negated(node: Node) -> Node:
    """``-node``, with the minus where it reads best: in front of a product, inside a sum."""
    if isinstance(node, Binary) and node.operator == "-":
        return Binary("-", node.right, node.left)
    if isinstance(node, Binary) and node.operator in ("*", "/"):
        return Binary(node.operator, _negated(node.left), node.right)
    return Unary("-", node)


def _multiply_all(factors: list[Node]) -> Node:
    result = factors[0]
    for factor in factors[1:]:
        result = Binary("*", result, factor)
    return result


def _build_power(base: Node, power: int) -> Node:
    if power == 1:
        return base
    return (
        Binary("*", base, base)
        if power == 2 and isinstance(base, Name)
        else Binary("**", base, Number(power))
    )


def _split_coefficient(value: Fraction) -> tuple[Fraction, int]:
    """A factor in front and a divisor behind: 2/3 stays exact, 0.5 and 0.693147 stay decimals."""
    denominator = value.denominator
    if denominator & (denominator - 1) == 0 or max(abs(value.numerator), denominator) > 10**6:
        return value, 1
    return Fraction(value.numerator), denominator


def _literal(value: Fraction) -> Node:
    if value < 0:
        return Unary("-", _literal(-value))
    if value.denominator == 1 and value < 2**63:
        return Number(int(value))
    front, behind = _split_coefficient(value)
    return Number(float(value)) if behind == 1 else Binary("/", Number(int(front)), Number(behind))


def _push_into_where(product: _Product) -> Node | None:
    """``m * where(c, a, 0)`` is ``where(c, m * a, 0)``: an infinite m must not meet the zero."""

    for base, power in product.powers.items():
        if power != 1 or not (isinstance(base, Call) and base.function == "where"):
            continue

        rest = _Product(product.coefficient, {b: p for b, p in product.powers.items() if b != base})
        condition, then, otherwise = base.arguments
        is_small = sum(1 for b in rest.powers for _ in nodes.walk(b)) <= 3

        if (rest.powers or rest.coefficient != 1) and (
            ZERO in (then, otherwise) or (is_small and _is_cheap_choice(then, otherwise))
        ):
            factor = _build_product(rest)
            branches = (simplify(Binary("*", factor, branch)) for branch in (then, otherwise))
            return _simplify_call(Call("where", (condition, *branches)))

    return None


def _is_cheap_choice(then: Node, otherwise: Node) -> bool:
    """Whether multiplying each branch costs no more than multiplying the choice.

    That holds where one branch is a number and the other a number or a name.
    """
    constant = [_is_piecewise_constant(branch) for branch in (then, otherwise)]
    return any(constant) and all(c or isinstance(b, Name) for c, b in zip(constant, (then, otherwise)))


def _is_piecewise_constant(node: Node) -> bool:
    if isinstance(node, Call) and node.function == "where":
        return all(_is_piecewise_constant(branch) for branch in node.arguments[1:])
    return number_of(node) is not None


# Sums


def _sum_of(node: Node) -> list[_Product]:
    """The terms of a node whose parts are simplified, like terms collected."""
    terms: dict[tuple[frozenset[tuple[Node, int]], int], _Product] = {}
    pending: list[tuple[Node, int]] = [(node, 1)]

    while pending:
        part, sign = pending.pop(0)
        if isinstance(part, Binary) and part.operator in ("+", "-"):
            pending[:0] = [(part.left, sign), (part.right, sign if part.operator == "+" else -sign)]
            continue

        if isinstance(part, Unary) and part.operator == "-":
            pending.insert(0, (part.operand, -sign))
            continue

        product = _product_of(part)
        if sign < 0:
            product.coefficient = -product.coefficient
        if not product.coefficient:
            continue

        if abs(product.coefficient) == 1 and len(product.powers) == 1:
            ((base, power),) = product.powers.items()
            if power == 1 and base != part and isinstance(base, Binary) and base.operator in ("+", "-"):
                pending.insert(0, (base, int(product.coefficient)))
                continue

        key = (product.key(), 0)
        while key in terms and not _is_literal(terms[key].coefficient + product.coefficient):
            key = (key[0], key[1] + 1)  # 1e308 * x + 1e308 * x: the sum of the coefficients overflows
        if key in terms:
            terms[key].coefficient += product.coefficient
        else:
            terms[key] = product

    return [term for term in terms.values() if term.coefficient]


def _build_sum(terms: list[_Product]) -> Node:
    if not terms:
        return ZERO

    common = _common_calls(terms)
    if common:
        factored = _Product(Fraction(1), dict(common))
        for term in terms:
            term.multiply_by(_Product(Fraction(1), common), -1)
        factored.multiply(_build_sum(_sum_of(_build_sum(terms))), 1)
        return _build_product(factored)

    if len(terms) > 1 and terms[0].coefficient < 0:  # 1 - x reads better than -x + 1
        first = next((i for i, term in enumerate(terms) if term.coefficient > 0), 0)
        terms = [terms[first], *terms[:first], *terms[first + 1 :]]

    result = _build_product(terms[0])
    for term in terms[1:]:
        positive = _build_product(_Product(abs(term.coefficient), term.powers))
        result = Binary("+" if term.coefficient > 0 else "-", result, positive)

    return result


def _common_calls(terms: list[_Product]) -> dict[Node, int]:
    """Function calls that are a factor of every term.

    Factored out, sigmoid(x) + x * sigmoid(x) calls the function once.
    """
    if len(terms) < 2:
        return {}
    common: dict[Node, int] = {}
    for base, power in terms[0].powers.items():
        least = min(term.powers.get(base, 0) for term in terms)
        if power > 0 and least > 0 and isinstance(base, Call) and base.function != "where":
            common[base] = least
    return common


# The result of the forward call


def use_result(node: Node, expr: Node, tensors: Collection[str]) -> Node:
    """``node`` with every part equal to ``expr`` replaced by the name ``result``.

    Left unchanged where that would keep more tensors for backward (``tensors`` are the names of tensor
    arguments): tanh' = 1 - result * result keeps one, and not the other; silu' in terms of self alone is
    better than with result.
    """
    whole = simplify(expr)
    if isinstance(whole, (Name, Number)):
        return node
    replaced = simplify(_replace(simplify(node), whole))
    if "result" not in nodes.names(replaced):
        replaced = _use_scaled_result(simplify(node), whole, tensors)

    def kept(formula: Node) -> int:
        return sum(name in tensors or name == "result" for name in nodes.names(formula))

    return replaced if kept(replaced) <= kept(node) else node


def _replace(node: Node, whole: Node) -> Node:
    if node == whole:
        return Name("result")
    if isinstance(node, (Binary, Unary)) and node.operator in ("*", "/", "-") and isinstance(whole, Binary):
        if whole.operator in ("*", "/") and not (isinstance(node, Binary) and node.operator == "-"):
            product = _product_of(node)
            wanted = _product_of(whole)
            if _contains(product, wanted):
                product.multiply_by(wanted, -1)
                product.multiply(Name("result"), 1)
                return _replace(_build_product(product), whole)
    return nodes.rebuild(node, lambda part: _replace(part, whole))


def _use_scaled_result(node: Node, whole: Node, tensors: Collection[str]) -> Node:
    """With the result ``cap * tanh(x / cap)``, ``tanh(x / cap)`` is ``result / cap``.

    Only for factors that the formula divides by anyway: others may be 0, and the quotient NaN.
    """
    product = _product_of(whole)
    own = [base for base in product.powers if not set(nodes.names(base)).isdisjoint(tensors)]
    core = own[0] if len(own) == 1 else None
    if not isinstance(core, Call) or product.powers[core] != 1:
        return node
    others = [base for base in product.powers if base != core]
    if not all(_divides_by(core, other) for other in others):
        return node

    rest = {Name("result"): 1, **{other: -product.powers[other] for other in others}}
    quotient = _build_product(_Product(1 / product.coefficient, rest))

    def replaced(part: Node) -> Node:
        return quotient if part == core else nodes.rebuild(part, replaced)

    return simplify(replaced(node))


def _divides_by(node: Node, divisor: Node) -> bool:
    return any(
        isinstance(part, Binary) and part.operator == "/" and divisor in _product_of(part.right).powers
        for part in nodes.walk(node)
    )


def _contains(product: _Product, wanted: _Product) -> bool:
    """Whether ``product`` contains every factor of ``wanted``.

    Each occurs at least as often, on the same side of the fraction.
    """
    for base, power in wanted.powers.items():
        own = product.powers.get(base, 0)
        if own * power <= 0 or abs(own) < abs(power):
            return False
    return len(wanted.powers) > 0


def split_product(node: Node, belongs: Callable[[Node], bool]) -> tuple[Node, Node]:
    """Two factors of ``node``, which is simplified: the second has those that belong to it."""
    product = _product_of(node)
    inside = _Product(Fraction(1), {b: p for b, p in product.powers.items() if belongs(b)})
    if not product.coefficient:
        return ONE, ZERO
    outside = _Product(
        product.coefficient, {b: p for b, p in product.powers.items() if b not in inside.powers}
    )
    return _build_product(outside), _build_product(inside)


def terms_of(node: Node) -> list[tuple[int, Node]]:
    """The terms of a sum that are added or subtracted as they are, with their signs."""
    found = []
    for term in _sum_of(node):
        if abs(term.coefficient) == 1:
            found.append((int(term.coefficient), _build_product(_Product(Fraction(1), term.powers))))
    return found


def distribute(node: Node) -> Node:
    """A product with a sum among its factors as a sum of products: x * (a / x - b / x) is a - b."""
    product = _product_of(simplify(node))
    for base, power in product.powers.items():
        if power != 1 or not (isinstance(base, Binary) and base.operator in ("+", "-")):
            continue
        rest = _Product(product.coefficient, {b: p for b, p in product.powers.items() if b != base})
        terms = _sum_of(base)
        for term in terms:
            term.multiply_by(rest)
        return simplify(_build_sum(terms))
    return node


def factors_of(node: Node) -> dict[Node, int]:
    """The powers of the factors of a product."""
    return dict(_product_of(node).powers)


def with_factors(node: Node, change: Callable[[dict[Node, int]], dict[Node, int]]) -> Node:
    """A product with the powers of its factors changed."""
    product = _product_of(node)
    return _build_product(_Product(product.coefficient, change(dict(product.powers))))
