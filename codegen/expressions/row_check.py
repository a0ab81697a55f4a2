"""Checks an ``expr:`` over rows: that of a reduction, and that of an operator along a ``dim``."""

from __future__ import annotations

from collections.abc import Collection

from codegen.expressions import nodes
from codegen.expressions.complex_numbers import complex_dtype, complex_names_of, without_complex_value
from codegen.expressions.errors import FormulaProblem, did_you_mean
from codegen.expressions.expr_check import WRITE_FORMULA, ExprChecker
from codegen.expressions.functions import FUNCTIONS
from codegen.expressions.nodes import Call, Node
from codegen.expressions.rows import COUNT, REDUCTIONS, ROW_ARGUMENTS, is_reduction, varies
from codegen.expressions.scope import TENSOR, OperatorLike, Scope, kind_of_type
from codegen.expressions.zero_terms import zero_terms

# What others call them.
_OTHER_NAMES = {"max": "amax", "min": "amin", "maximum": "amax", "minimum": "amin", "prod": "product"}


def check_row_expr(
    node: Node,
    operator: OperatorLike,
    is_reduced: bool,
    dtypes: Collection[str] = (),
    uses_all: bool = True,
) -> list[FormulaProblem]:
    """Every mistake in a formula over rows of ``dtypes``.

    ``is_reduced`` if it gives one number for each row. Unless ``uses_all``, only tensors must be in it.
    """
    checker = _RowChecker(Scope(operator, tensors_as="Scalar"), is_reduced)
    checker.visit(node)
    returns = [kind_of_type(r.type) for r in operator.schema.returns]
    if returns != [TENSOR]:
        checker.report(node, "an operator with 'expr' returns one Tensor", "write '-> Tensor' in the schema")
    if not checker.problems:
        checker.check_whole(node, uses_all)
        checker.check_complex(node, dtypes)
        checker.problems += zero_terms(node, WRITE_FORMULA)
    return sorted(checker.problems, key=lambda problem: problem.offset)


class _RowChecker(ExprChecker):
    def __init__(self, scope: Scope, is_reduced: bool) -> None:
        super().__init__(scope)
        self.is_reduced = is_reduced
        self.elements = frozenset(argument.name for argument in scope.schema.arguments.tensors)
        self.depth = 0
        self.is_told = False  # that elements are outside of reductions

    def visit(self, node: Node) -> None:
        if isinstance(node, Call) and node.function in _OTHER_NAMES and len(node.arguments) == 1:
            hint = f"write {_OTHER_NAMES[node.function]}({nodes.to_source(node.arguments[0])})"
            self.report(node, f"unknown reduction '{node.function}'", hint)
            return
        if not isinstance(node, Call) or node.function not in REDUCTIONS:
            super().visit(node)
            return

        if len(node.arguments) != 1:
            hint = f"write {node.function}(self): the rows are those along 'dim'"
            self.report(node, f"'{node.function}' takes one formula, got {len(node.arguments)}", hint)
            return

        before = len(self.problems)
        self.depth += 1
        self.visit(node.arguments[0])
        self.depth -= 1
        if len(self.problems) == before:
            self.check_elements(node)

    def check_elements(self, node: Call) -> None:
        """What is reduced differs along the row."""
        argument = node.arguments[0]
        if REDUCTIONS[node.function].boolean:
            self.check_condition(argument)
        if varies(argument, self.elements):
            return
        source = nodes.to_source(argument)
        hint = f"write count * {source}" if node.function == "sum" else f"write {source}"
        self.report(node, f"'{node.function}' of '{source}', which is one number for the whole row", hint)

    def check_name(self, node: nodes.Name) -> None:
        if node.name == COUNT and self.scope.argument(COUNT) is None:
            return
        if node.name in ROW_ARGUMENTS and self.scope.argument(node.name) is not None:
            self.report(node, f"'{node.name}' says what the rows are", "write 'count' for their length")
        elif node.name in REDUCTIONS and self.scope.argument(node.name) is None:
            self.report(node, f"'{node.name}' is a function", f"call it: '{node.name}(self)'")
        elif self.is_reduced and self.depth == 0 and node.name in self.elements:
            if self.is_told:
                return
            self.is_told = True
            hint = f"write sum({node.name}); reductions: {', '.join(REDUCTIONS)}"
            self.report(node, f"'{node.name}' is an element outside of a reduction", hint)
        else:
            super().check_name(node)

    def check_call(self, node: Call) -> None:
        if node.function in FUNCTIONS and len(node.arguments) == FUNCTIONS[node.function].arity:
            super().check_call(node)
        elif node.function in FUNCTIONS:
            super().check_call(node)
        else:
            known = [*FUNCTIONS, *REDUCTIONS]
            hint = did_you_mean(node.function, known) or f"reductions: {', '.join(REDUCTIONS)}"
            self.report(node, f"unknown function '{node.function}'", hint)

    def check_complex(self, node: Node, dtypes: Collection[str]) -> None:
        """What has no meaning for complex numbers is applied to real ones."""
        for part in without_complex_value(node, complex_names_of(self.scope.operator, dtypes)):
            hint = "compare real numbers such as abs(self)"
            if isinstance(part, Call):
                argument = nodes.to_source(part.arguments[0])
                hint = f"apply '{part.function}' to a real number such as abs({argument})"

            reason = f"has no meaning for complex numbers, and dtypes includes {complex_dtype(dtypes)}"
            message = f"'{nodes.to_source(part)}' {reason}"
            self.report(part, message, f"{hint}, or leave the complex dtypes out")

    def check_whole(self, node: Node, uses_all: bool = True) -> None:
        if not any(map(is_reduction, nodes.walk(node))):
            hint = f"write structure: pointwise, or one of {', '.join(REDUCTIONS)}"
            self.report(node, "a formula over rows has no reduction", hint)

        used = nodes.names(node)
        arguments = self.scope.schema.arguments
        required = arguments.flat_non_out if uses_all else arguments.tensors
        for argument in required:
            if argument.name not in used and argument.name not in ROW_ARGUMENTS:
                hint = "use it or remove it from the schema"
                self.report(node, f"argument '{argument.name}' is not used", hint)
