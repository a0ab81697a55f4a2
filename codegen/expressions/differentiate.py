"""Differentiates ``expr:`` symbolically."""

from __future__ import annotations

from collections.abc import Callable, Collection
from enum import Enum

from codegen.expressions import nodes
from codegen.expressions.complex_numbers import is_real
from codegen.expressions.errors import ExpressionError, FormulaProblem
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Binary, Call, Compare, Name, Node, Number, Unary
from codegen.expressions.scope import OperatorLike
from codegen.expressions.simplify import ONE, ZERO, simplify, use_result
from codegen.remembered import remembered_by


def differentiate(node: Node, name: str) -> Node:
    """d node / d name, simplified. Raises ExpressionError at a function that has no derivative rule.

    The derivative is the complex one for holomorphic expressions; conjugation is the caller's.
    """
    return simplify(_Differentiation(name).of(node))


def derivative(expr: Node, argument: str, operator: OperatorLike) -> Node:
    """d expr / d argument in terms of the arguments of ``operator``.

    Uses its ``result`` as well where that saves memory.
    """
    refuse_hidden_names(expr, operator)
    return _derivative(expr, argument, tuple(a.name for a in operator.schema.arguments.tensors))


def refuse_hidden_names(expr: Node, operator: OperatorLike) -> None:
    """Raises ExpressionError where an argument is called as the gradient or the result is."""
    for name, (meaning, better) in _HIDDEN.items():
        if operator.schema.arguments.find(name) is not None:
            raise ExpressionError(
                f"argument '{name}' hides the {meaning} that the derivative of expr needs",
                expr.offset,
                f"rename it to '{better}', or write 'derivatives:'",
            )


@remembered_by
def _derivative(expr: Node, argument: str, tensors: tuple[str, ...]) -> Node:
    """Remembered: the check of an entry and the code generated from it both need it."""
    return use_result(differentiate(expr, argument), expr, tensors)


# Names of the gradient and the result in formulas, and a name that an argument may have instead.
_HIDDEN = {"grad": ("gradient", "grad_output"), "result": ("result", "output")}


def check_differentiable(expr: Node, operator: OperatorLike) -> list[FormulaProblem]:
    """The reasons why an operator with ``expr`` needs ``derivatives:``; empty if every derivative follows."""
    problems: dict[FormulaProblem, None] = {}
    for argument in operator.schema.arguments.tensors:
        try:
            derivative(expr, argument.name, operator)
        except ExpressionError as error:
            hint = error.hint or "write 'derivatives:' or 'non_differentiable:'"
            problems[FormulaProblem(error.offset, error.message, hint)] = None
    return list(problems)


def gradient(expr: Node, argument: str, operator: OperatorLike, conjugate: bool = False) -> Node:
    """``grad`` times the derivative: the gradient of ``argument`` before it is summed to its shape.

    ``conjugate`` for complex dtypes: the gradient of a holomorphic function takes the conjugate of its
    derivative.
    """
    if conjugate:
        return _complex_gradient(expr, argument, operator)
    factor = derivative(expr, argument, operator)
    return ZERO if factor == ZERO else simplify(Binary("*", Name("grad"), factor))


def _complex_gradient(expr: Node, argument: str, operator: OperatorLike) -> Node:
    """grad * conj(df/dx) + conj(grad) * df/d(conj x), by Wirtinger's derivatives.

    The second term occurs only below a conj.
    """
    derivative(expr, argument, operator)  # reports names that would be hidden
    tensors = [a.name for a in operator.schema.arguments.tensors]
    direct, through_conjugate = (
        use_result(part, expr, tensors)
        for part in complex_derivatives(expr, argument, frozenset([*tensors, "grad", "result"]))
    )
    if nodes.names(direct):
        direct = Call("conj", (direct,))
    flipped = Binary("*", Call("conj", (Name("grad"),)), through_conjugate)
    return simplify(Binary("+", Binary("*", Name("grad"), direct), flipped))


def complex_derivatives(node: Node, name: str, complex_names: frozenset[str]) -> tuple[Node, Node]:
    """Wirtinger's derivatives, simplified: d node / d name, and d node / d conj(name).

    ``complex_names`` stand for complex numbers, other names for real ones. Raises ExpressionError at a
    function whose derivative rule is for real numbers.
    """
    direct = _Differentiation(name, _Conjugates.OF_A_CONSTANT, complex_names)
    flipped = _Differentiation(name, _Conjugates.OF_THE_ARGUMENT, complex_names)
    if name not in complex_names:
        return simplify(direct.of(node)), ZERO
    return simplify(direct.of(node)), simplify(flipped.of(node))


def not_holomorphic(node: Node, arguments: Collection[str] | None = None) -> list[Node]:
    """The parts whose derivative rules hold for real numbers only: they rule out complex dtypes.

    With ``arguments``, only parts that depend on one of them. conj does not count: ``gradient`` has
    Wirtinger's rule for it.
    """
    found: list[Node] = []

    for part in nodes.walk(node):
        if arguments is not None and not any(name in arguments for name in nodes.names(part)):
            continue
        if isinstance(part, Call) and part.function in FUNCTIONS and not FUNCTIONS[part.function].holomorphic:
            if part.function != "conj":
                found.append(part)
        elif isinstance(part, Compare) and any(o not in ("==", "!=") for o in part.operators):
            found.append(part)
        elif isinstance(part, Binary) and part.operator == "%":
            found.append(part)

    return found


class _Conjugates(Enum):
    """How conj(x) is treated when differentiating with respect to x."""

    REAL = "x itself: the rules of real numbers"
    OF_A_CONSTANT = "d/dx, with conj(x) held fixed"
    OF_THE_ARGUMENT = "d/d(conj x), with x held fixed"

    @property
    def other(self) -> _Conjugates:
        return (
            _Conjugates.OF_A_CONSTANT if self is _Conjugates.OF_THE_ARGUMENT else _Conjugates.OF_THE_ARGUMENT
        )


class _Differentiation:
    def __init__(
        self,
        name: str,
        conjugates: _Conjugates = _Conjugates.REAL,
        complex_names: frozenset[str] = frozenset(),
    ) -> None:
        self.name = name
        self.conjugates = conjugates
        self.complex_names = complex_names

    def of(self, node: Node) -> Node:
        if self.name not in nodes.names(node):
            return ZERO

        if isinstance(node, Name):
            return ZERO if self.conjugates is _Conjugates.OF_THE_ARGUMENT else ONE
        if isinstance(node, Unary) and node.operator == "-":
            return Unary("-", self.of(node.operand))
        if isinstance(node, Binary):
            return self._RULES[node.operator](self, node.left, node.right)
        if isinstance(node, nodes.Conditional):
            return Call("where", (node.condition, self.of(node.then), self.of(node.otherwise)))
        if isinstance(node, Call):
            return self.of_call(node)

        if isinstance(node, (Compare, nodes.Logical, Unary)):
            return ZERO

        raise ExpressionError(f"'{nodes.to_source(node)}' has no derivative", node.offset)

    def of_call(self, node: Call) -> Node:
        if node.function == "where":
            condition, then, otherwise = node.arguments
            return Call("where", (condition, self.of(then), self.of(otherwise)))

        if self.conjugates is not _Conjugates.REAL and not is_real(node.arguments[0], self.complex_names):
            found = self.of_complex_call(node)
            if found is not None:
                return found

        function = FUNCTIONS.get(node.function)
        if function is None:
            raise ExpressionError(f"'{node.function}' has no derivative rule", node.offset)

        values = dict(zip(function.parameters, node.arguments))
        total: Node = ZERO
        for position, argument in enumerate(node.arguments):
            inner = simplify(self.of(argument))
            if inner == ZERO:
                continue
            outer = function.derivative(position)
            if outer is None:
                raise ExpressionError(f"'{node.function}' has no derivative rule", node.offset)
            total = Binary("+", total, Binary("*", nodes.substitute(outer, values), inner))

        return total

    def of_complex_call(self, node: Call) -> Node | None:
        """Of functions of a complex number that have no complex derivative; None of others."""
        part = node.arguments[0]
        if node.function == "conj":
            return self.of_conjugate(part)
        if node.function == "real":
            return Binary("/", Binary("+", self.of(part), self.of_conjugate(part)), Number(2))
        if node.function == "abs":
            sign = Call("where", (Compare(("==",), (part, ZERO)), ZERO, Binary("/", part, node)))
            direct = Binary("*", Call("conj", (sign,)), self.of(part))
            through = Binary("*", sign, self.of_conjugate(part))
            return Binary("/", Binary("+", direct, through), Number(2))

        function = FUNCTIONS.get(node.function)
        if function is None or function.holomorphic or function.boolean:
            return None
        raise ExpressionError(f"'{node.function}' of complex numbers has no derivative rule", node.offset)

    def of_conjugate(self, node: Node) -> Node:
        """Of conj(node), which changes with x as the conjugate of node changes with conj(x)."""
        is_complex = self.name in self.complex_names
        conjugates = self.conjugates.other if is_complex else self.conjugates
        return Call("conj", (_Differentiation(self.name, conjugates, self.complex_names).of(node),))

    def of_sum(self, left: Node, right: Node) -> Node:
        return Binary("+", self.of(left), self.of(right))

    def of_difference(self, left: Node, right: Node) -> Node:
        return Binary("-", self.of(left), self.of(right))

    def of_product(self, left: Node, right: Node) -> Node:
        return Binary("+", Binary("*", self.of(left), right), Binary("*", left, self.of(right)))

    def of_quotient(self, left: Node, right: Node) -> Node:
        ours = Binary("/", self.of(left), right)
        return Binary(
            "-", ours, Binary("/", Binary("*", left, self.of(right)), Binary("**", right, Number(2)))
        )

    def of_remainder(self, left: Node, right: Node) -> Node:
        """a % b is a - floor(a / b) * b."""
        quotient = Call("floor", (Binary("/", left, right),))
        return Binary("-", self.of(left), Binary("*", quotient, self.of(right)))

    def of_power(self, left: Node, right: Node) -> Node:
        if isinstance(left, Call) and left.function == "abs" and right == Number(2):
            (part,) = left.arguments
            if self.conjugates is not _Conjugates.REAL and not is_real(part, self.complex_names):
                return self.of_product(part, Call("conj", (part,)))
        return self.of_call(Call("pow", (left, right)))

    _RULES: dict[str, Callable[[_Differentiation, Node, Node], Node]] = {
        "+": of_sum,
        "-": of_difference,
        "*": of_product,
        "/": of_quotient,
        "%": of_remainder,
        "**": of_power,
    }
