"""What entries must satisfy in C, reported at their place in the file."""

from __future__ import annotations

from c_header_target.printer import FUNCTIONS, unknown_function
from codegen.diagnostics import did_you_mean
from codegen.expressions import ExpressionError, check_expr, gradient
from codegen.model import Formula, Operator
from codegen.model.checks.report import Reporter
from codegen.model.reading import Context


def check(operator: Operator, context: Context, has_structure: bool) -> None:
    report = Reporter(operator, context)
    if operator.structure != "pointwise" or operator.expr is None:
        if has_structure:
            message = "a C function comes from a formula"
            report.at_key("structure", message, "write structure: pointwise, and expr: and a formula")
        return

    if operator.expr.node is not None and not check_expr(operator.expr.node, operator):
        _check_functions(operator, operator.expr, report)


def _check_functions(operator: Operator, formula: Formula, report: Reporter) -> None:
    """C has the functions of the formula, and of its derivatives."""
    unknown = unknown_function(formula.node)
    if unknown is not None:
        hint = did_you_mean(unknown.function, FUNCTIONS)
        report.at_offset(formula.location, unknown.offset, f"C has no function '{unknown.function}'", hint)
        return

    for argument in operator.tensor_arguments if operator.derives_automatically else ():
        try:
            missing = unknown_function(gradient(formula.node, argument.name, operator))
        except ExpressionError:  # no derivative, which is reported for every target
            continue
        if missing is not None:
            message = f"the gradient of {argument.name} takes '{missing.function}', which C lacks"
            report.at(formula.location, message, "write non_differentiable: and the reason")
