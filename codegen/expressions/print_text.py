"""Prints expressions for documentation: as plain text, and pointwise formulas as LaTeX."""

from __future__ import annotations

from codegen.expressions import nodes
from codegen.expressions.errors import ExpressionError
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Call, Node
from codegen.expressions.rows import REDUCTIONS, is_reduction
from codegen.expressions.scope import REQUIREMENT_FUNCTIONS
from codegen.remembered import recently

_PREDICATES = {"is_floating": "is_floating_point"}
_PHRASES = {
    "is_integral": "{} is integral",
    "defined": "{} is given",
    "same": "{} is {}",
    "no_internal_overlap": "{} has no internal overlap",
    "no_partial_overlap": "{} has no partial overlap with {}",
}


def text(node: Node) -> str:
    """The expression as the entry writes it, with normal spacing."""
    return nodes.to_source(node)


@recently
def requirement_text(node: Node) -> str:
    """A constraint in the words of the Python user: ``self.dim() == 2``, ``input.dtype in floating``."""
    return nodes.to_source(_as_python(node))


def _as_python(node: Node) -> Node:
    if isinstance(node, Call) and node.function in REQUIREMENT_FUNCTIONS:
        target, *rest = map(_as_python, node.arguments)

        if node.function in ("dtype", "device"):
            return nodes.Method(target, node.function, None)
        if node.function == "sizes":
            return nodes.Method(target, "shape", None)

        if node.function in _PHRASES:
            return nodes.Name(_PHRASES[node.function].format(*map(nodes.to_source, (target, *rest))))

        return nodes.Method(target, _PREDICATES.get(node.function, node.function), tuple(rest))
    return nodes.rebuild(node, _as_python)


_GREEK = {"alpha", "beta", "gamma", "delta", "epsilon", "lambda", "mu", "sigma", "theta", "pi"}
_RELATIONS = {"<": "<", "<=": r"\le", ">": ">", ">=": r"\ge", "==": "=", "!=": r"\ne"}


def latex(node: Node) -> str:
    """A pointwise formula in LaTeX, without the dollar signs."""
    return _LatexPrinter().print(node)


class _LatexPrinter:
    def print(self, node: Node, at_least: int = 0) -> str:
        printed = self._print(node)
        is_fraction = isinstance(node, nodes.Binary) and node.operator == "/" and at_least <= nodes.NEGATION
        return (
            rf"\left({printed}\right)" if nodes.precedence(node) < at_least and not is_fraction else printed
        )

    def _print(self, node: Node) -> str:
        if isinstance(node, nodes.Number):
            return nodes.number_text(node.value)

        if isinstance(node, nodes.Boolean):
            return rf"\text{{{str(node.value).lower()}}}"
        if isinstance(node, nodes.Name):
            return self.name(node.name)

        if isinstance(node, nodes.Unary):
            return (
                rf"\neg {self.print(node.operand, nodes.NOT)}"
                if node.operator == "not"
                else f"-{self.print(node.operand, nodes.NEGATION)}"
            )

        if isinstance(node, nodes.Binary):
            return self.binary(node)
        if isinstance(node, nodes.Logical):
            level = nodes.precedence(node)
            return (
                rf"{self.print(node.left, level)} \text{{ {node.operator} }} {self.print(node.right, level)}"
            )

        if isinstance(node, nodes.Compare):
            text = self.print(node.operands[0], nodes.SUM)
            for operator, operand in zip(node.operators, node.operands[1:]):
                text += f" {_RELATIONS[operator]} {self.print(operand, nodes.SUM)}"
            return text

        if isinstance(node, nodes.Conditional):
            return self.cases(node.condition, node.then, node.otherwise)
        if isinstance(node, Call):
            return self.call(node)

        raise ExpressionError(f"'{nodes.to_source(node)}' is not a pointwise formula", node.offset)

    def name(self, name: str) -> str:
        if name == "inf":
            return r"\infty"
        if name in _GREEK:
            return f"\\{name}"
        escaped = name.replace("_", r"\_")
        return name if len(name) == 1 else rf"\text{{{escaped}}}"

    def binary(self, node: nodes.Binary) -> str:
        if node.operator == "/":
            return rf"\frac{{{self.print(node.left)}}}{{{self.print(node.right)}}}"
        if node.operator == "**":
            return f"{{{self.print(node.left, nodes.POSTFIX)}}}^{{{self.print(node.right)}}}"
        level = nodes.binary_precedence(node.operator)
        symbol = {"*": r"\cdot", "%": r"\bmod"}.get(node.operator, node.operator)
        return f"{self.print(node.left, level)} {symbol} {self.print(node.right, level + 1)}"

    def call(self, node: Call) -> str:
        if node.function == "where":
            return self.cases(node.arguments[0], node.arguments[1], node.arguments[2])
        arguments = [self.print(argument) for argument in node.arguments]
        if is_reduction(node):
            argument = node.arguments[0]
            is_sum = isinstance(argument, nodes.Binary) and argument.operator in ("+", "-")
            return REDUCTIONS[node.function].latex.format(
                rf"\left({arguments[0]}\right)" if is_sum else arguments[0]
            )
        function = FUNCTIONS.get(node.function)
        if function is not None and function.latex:
            return function.latex.format(*arguments)
        return rf"\operatorname{{{node.function}}}({', '.join(arguments)})".replace("_", r"\_")

    def cases(self, condition: Node, then: Node, otherwise: Node) -> str:
        first = rf"{self.print(then)} & \text{{if }} {self.print(condition)}"
        return rf"\begin{{cases}} {first} \\ {self.print(otherwise)} & \text{{otherwise}} \end{{cases}}"
