"""Checks ``expr:``, and infers from it how dtypes promote."""

from __future__ import annotations

from collections.abc import Collection

from codegen.expressions import nodes
from codegen.expressions.complex_numbers import complex_names_of, is_real
from codegen.expressions.errors import FormulaProblem, did_you_mean
from codegen.expressions.functions import CONSTANTS, FUNCTIONS
from codegen.expressions.nodes import Call, Node
from codegen.expressions.rows import REDUCTIONS
from codegen.expressions.scope import (
    NUMBERS,
    TENSOR,
    UNKNOWN,
    Checker,
    OperatorLike,
    Scope,
    kind_of_type,
)
from codegen.expressions.simplify import number_of, simplify
from codegen.expressions.zero_terms import zero_terms

WRITE_FORMULA = "write what the operator computes from its arguments"

# What Python, C and NumPy call functions that have another name here.
_USUAL_NAMES = {
    "max": "maximum",
    "min": "minimum",
    "fabs": "abs",
    "ln": "log",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "absolute": "abs",
    "expit": "sigmoid",
    "power": "pow",
}


def check_expr(node: Node, operator: OperatorLike) -> list[FormulaProblem]:
    """Every mistake in the pointwise formula of ``operator``."""
    checker = ExprChecker(Scope(operator, tensors_as="Scalar"))
    checker.visit(node)
    returns = [kind_of_type(r.type) for r in operator.schema.returns]
    if returns != [TENSOR]:
        checker.report(node, "an operator with 'expr' returns one Tensor", "write '-> Tensor' in the schema")
    if not checker.problems:
        checker.problems += zero_terms(node, WRITE_FORMULA)
    if not checker.problems:
        checker.check_all_used(node)
    return sorted(checker.problems, key=lambda problem: problem.offset)


class ExprChecker(Checker):
    takes_optional = False  # whether optional numbers may be used

    def visit(self, node: Node) -> None:

        if isinstance(node, nodes.Name):
            self.check_name(node)
        elif isinstance(node, Call):
            self.check_call(node)
        elif isinstance(node, nodes.Method):
            self.report(node, f"'.{node.name}' has no meaning for one element", self.as_function(node))
            return
        elif isinstance(node, (nodes.String, nodes.Nothing, nodes.Index, nodes.ListOf, nodes.TupleOf)):
            self.report(
                node, "expr is a formula over numbers", "write numbers, arguments, operators and functions"
            )
            return
        elif isinstance(node, nodes.Compare) and any(o in ("in", "not in") for o in node.operators):
            self.report(node, "'in' has no meaning in expr", "write 'a == 1 or a == 2'")
        elif isinstance(node, nodes.Binary) and node.operator in ("/", "%") and number_of(node.right) == 0:
            self.report(node.right, f"'{node.operator}' divides by 0", "write 'inf' or 'nan' for that")
        elif isinstance(node, nodes.Conditional):
            self.check_condition(node.condition)
        elif isinstance(node, nodes.Logical) or (isinstance(node, nodes.Unary) and node.operator == "not"):
            for child in nodes.children(node):
                self.check_condition(child)

        for child in nodes.children(node):
            self.visit(child)

    def as_function(self, node: nodes.Method) -> str:
        """``x.tanh()`` and ``torch.tanh(x)`` as a formula has them; empty if it has no such function."""
        if node.name not in FUNCTIONS:
            return ""
        is_module = isinstance(node.target, nodes.Name) and self.scope.argument(node.target.name) is None
        values = [*([] if is_module else [node.target]), *(node.arguments or ())]
        return f"write '{node.name}({', '.join(map(nodes.to_source, values))})'"

    def check_name(self, node: nodes.Name) -> None:
        argument = self.scope.argument(node.name)

        if argument is None:
            if node.name in CONSTANTS:
                return
            if node.name in FUNCTIONS:
                parameters = ", ".join(FUNCTIONS[node.name].parameters)
                self.report(node, f"'{node.name}' is a function", f"call it: '{node.name}({parameters})'")
                return

            known = self.scope.schema.arguments.names()
            hint = did_you_mean(node.name, [*known, *CONSTANTS]) or "arguments: " + ", ".join(known)
            self.report(node, f"unknown name '{node.name}'", hint)
        elif kind_of_type(argument.type) not in (*NUMBERS, TENSOR) or (
            argument.type.is_optional and not self.takes_optional
        ):
            self.report(
                node,
                f"'{node.name}' is {argument.type}",
                "expr takes Tensor, Scalar, float, int and bool arguments",
            )

    def check_call(self, node: Call) -> None:
        function = FUNCTIONS.get(node.function)
        if function is None and node.function in REDUCTIONS:
            message = (
                f"'{node.function}' is over the elements of a row, but a pointwise formula sees one element"
            )
            hint = "write structure: reduction, or structure: shaped and a dim for one result per element"
            self.report(node, message, hint)

        elif function is None:
            word = _USUAL_NAMES.get(node.function, node.function)
            hint = did_you_mean(word, FUNCTIONS) or "known: " + ", ".join(FUNCTIONS)
            self.report(node, f"unknown function '{node.function}'", hint)

        elif len(node.arguments) != function.arity:
            plural = "argument" if function.arity == 1 else "arguments"
            signature = f"write '{node.function}({', '.join(function.parameters)})'"
            self.report(
                node,
                f"'{node.function}' takes {function.arity} {plural}, got {len(node.arguments)}",
                signature,
            )

        elif node.function == "where":
            self.check_condition(node.arguments[0])

    def check_condition(self, node: Node) -> None:
        """A truth value: a comparison, or an argument (whose dtype may be bool)."""
        if isinstance(node, nodes.Name) or self.scope.kind(node) in ("bool", UNKNOWN):
            return
        self.report(node, "a condition is needed, not a number", f"write '{nodes.to_source(_nonzero(node))}'")

    def check_all_used(self, node: Node) -> None:
        used = nodes.names(node)
        kept = nodes.names(simplify(node))
        for argument in self.scope.schema.arguments.flat_non_out:
            name = argument.name
            if name not in used:
                self.report(node, f"argument '{name}' is not used", "use it or remove it from the schema")
            elif name not in kept:
                place = next(p for p in nodes.walk(node) if isinstance(p, nodes.Name) and p.name == name)
                hint = "write what the operator computes from it, or remove it from the schema"
                self.report(place, f"the result does not depend on '{name}', which cancels out", hint)


def _nonzero(node: Node) -> Node:
    return nodes.Compare(("!=",), (node, nodes.Number(0)))


def is_boolean(node: Node, operator: OperatorLike) -> bool:
    """Whether an ``expr`` gives truth values."""
    return Scope(operator, tensors_as="Scalar").kind(node) == "bool"


def makes_float(node: Node, operator: OperatorLike) -> bool:
    """Whether an ``expr`` over integers gives floating point numbers.

    It does if it divides, calls a function such as exp, or contains a float.
    """

    if isinstance(node, nodes.Number):
        return isinstance(node.value, float)
    if isinstance(node, nodes.Name):
        argument = operator.schema.arguments.find(node.name)
        return argument.type.base.name == "float" if argument is not None else node.name in CONSTANTS
    if isinstance(node, (nodes.Compare, nodes.Logical)):
        return False

    parts: tuple[Node, ...] = nodes.children(node)
    if isinstance(node, Call) and node.function in REDUCTIONS:
        if node.function == "mean" or REDUCTIONS[node.function].boolean:
            return node.function == "mean"
    elif isinstance(node, Call):
        function = FUNCTIONS.get(node.function)
        if function is not None and (function.float_result or function.boolean):
            return function.float_result
        parts = node.arguments[1:] if node.function == "where" else node.arguments
    elif isinstance(node, nodes.Conditional):
        parts = (node.then, node.otherwise)
    elif isinstance(node, nodes.Binary) and node.operator == "/":
        return True
    elif isinstance(node, nodes.Binary) and node.operator == "**" and isinstance(node.right, nodes.Unary):
        return True  # x ** -2

    return any(makes_float(part, operator) for part in parts)


def infer_promotion(node: Node, operator: OperatorLike) -> str:
    """The ``promotion:`` that an ``expr`` implies: comparison, int_to_float, complex_to_real or default."""
    if is_boolean(node, operator):
        return "comparison"
    if isinstance(node, Call) and node.function in FUNCTIONS and FUNCTIONS[node.function].complex_to_real:
        return "complex_to_real"
    return "int_to_float" if makes_float(node, operator) else "default"


def infer_row_promotion(node: Node, operator: OperatorLike, dtypes: Collection[str]) -> str:
    """The ``promotion:`` that an ``expr`` over rows of ``dtypes`` implies.

    One of bool, complex_to_real, int_to_float and same.
    """
    if is_boolean(node, operator):
        return "bool"
    complex_names = complex_names_of(operator, dtypes)
    if complex_names and is_real(node, complex_names):
        return "complex_to_real"
    has_integers = any(dtype.startswith(("int", "uint", "bool")) for dtype in dtypes)
    return "int_to_float" if has_integers and makes_float(node, operator) else "same"
