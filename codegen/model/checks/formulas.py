"""Checks the formulas of an entry and reports mistakes at their place in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from codegen.diagnostics import did_you_mean
from codegen.dtypes import INTEGER_DTYPES
from codegen.expressions import (
    FUNCTIONS,
    ExpressionError,
    FormulaProblem,
    Node,
    check_differentiable,
    check_expr,
    check_formula,
    check_lowering,
    check_message_value,
    check_requires,
    check_row_differentiable,
    check_row_expr,
    complex_names_of,
    is_boolean,
    nodes,
    not_holomorphic,
    parse,
    to_source,
)
from codegen.expressions.rows import has_reductions
from codegen.model.checks.report import Reporter
from codegen.model.checks.slopes import check_slopes
from codegen.model.operator import Formula, Operator, Requirement
from codegen.model.program import Program
from codegen.model.reading import Context
from codegen.model.vocabulary import OPERATOR_IN_MESSAGE

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def check(operator: Operator, program: Program, context: Context) -> None:
    report = Reporter(operator, context)
    if operator.expr is not None and operator.expr.node is not None:
        problems = _check_expr(operator, operator.expr.node) or _check_gradient(operator)
        _report(problems, operator.expr, "write a formula over the arguments", report)
    if operator.lowering is not None and operator.lowering.node is not None:
        _check_lowering(operator, operator.lowering, report)
    well_formed = True
    for derivative in operator.derivatives:
        formula = derivative.formula
        # A formula for inputs that do not exist has been reported once already.
        if (
            formula is not None
            and formula.node is not None
            and all(operator.arguments.find(n) for n in derivative.inputs)
        ):
            problems = check_formula(formula.node, operator, program, derivative.inputs)
            _report(problems, formula, "write a formula such as grad * other", report)
            well_formed = well_formed and not problems
        elif formula is not None:
            well_formed = False
    if well_formed:
        for derivative, problem in check_slopes(operator, program):
            assert derivative.formula is not None
            _report([problem], derivative.formula, "write the derivative of expr", report)
    for requirement in operator.requires:
        _check_requirement(requirement, operator, program, report)


def _check_expr(operator: Operator, node: Node) -> list[FormulaProblem]:
    if operator.structure in ("reduction", "shaped"):
        problems = check_row_expr(node, operator, operator.structure == "reduction", operator.dtypes)
    else:
        problems = check_expr(node, operator)
    return problems or list(_functions_of_integers(node, operator))


def _functions_of_integers(node: Node, operator: Operator) -> Iterator[FormulaProblem]:
    """Calls of ``gcd`` and the like where the loops compute with other numbers."""
    others = [dtype for dtype in operator.dtypes if dtype not in (*INTEGER_DTYPES, "bool")]
    for part in nodes.walk(node):
        function = FUNCTIONS.get(part.function) if isinstance(part, nodes.Call) else None
        if function is None or not function.is_of_integers or not others:
            continue
        if not all(is_boolean(argument, operator) for argument in nodes.children(part)):
            message = f"'{function.name}' takes integers, but dtypes holds {others[0]}"
            yield FormulaProblem(part.offset, message, "leave the others out of dtypes")


def _check_lowering(operator: Operator, lowering: Formula, report: Reporter) -> None:
    if operator.expr is not None:
        report.at(lowering.location, "'lowering' repeats what 'expr' says", "remove it")
    elif operator.structure not in ("pointwise", "reduction", "shaped"):
        what = f"'lowering' has no meaning for structure {operator.structure}"
        report.at(lowering.location, what, "it is for pointwise, reduction and shaped")
    elif operator.structure == "shaped" and has_reductions(lowering.node):
        problems = check_row_expr(lowering.node, operator, False, operator.dtypes, uses_all=False)
        _report(problems, lowering, "write what the kernel computes", report)
    else:
        problems = check_lowering(lowering.node, operator, operator.structure)
        _report(problems, lowering, "write what the kernel computes", report)


def _check_gradient(operator: Operator) -> list[FormulaProblem]:
    """Without ``derivatives:``, the gradient is the derivative of ``expr``, which must exist."""
    assert operator.expr is not None
    if (
        not operator.derives_automatically
        or {"derivatives", "non_differentiable"} & operator.key_locations.keys()
    ):
        return []

    node = operator.expr.node
    if operator.is_over_rows:
        is_reduced = operator.structure == "reduction"
        complex_names = complex_names_of(operator, operator.dtypes)
        return check_row_differentiable(node, operator, is_reduced, complex_names)

    problems = check_differentiable(node, operator)
    if any(dtype.startswith("complex") for dtype in operator.dtypes):
        for part in not_holomorphic(node, [a.name for a in operator.tensor_arguments]):
            problems.append(
                FormulaProblem(
                    part.offset,
                    f"'{to_source(part)}' has no complex derivative, and dtypes holds complex ones",
                    "write 'derivatives:', or leave the complex dtypes out",
                )
            )

    return problems


def _report(problems: list[FormulaProblem], formula: Formula, hint: str, report: Reporter) -> None:
    for problem in problems:
        report.at_offset(formula.location, problem.offset, problem.message, problem.hint or hint)


def _check_requirement(
    requirement: Requirement, operator: Operator, program: Program, report: Reporter
) -> None:
    """Mistakes of a named requirement are reported where the entry names it."""
    problems: list[FormulaProblem] = []
    if requirement.check.node is not None:
        problems = check_requires(requirement.check.node, operator, program.all_dtype_sets())
    if requirement.used_at is None:
        _report(problems, requirement.check, "write a condition such as dim(self) == 2", report)
        _check_message(operator, requirement, report)
        return

    named = f"the requirement '{requirement.name}' is {requirement.check.text}"
    for problem in problems:
        report.at(requirement.used_at, f"{named}: {problem.message}", "write another requirement")
    for value in _PLACEHOLDER.findall(requirement.message or ""):
        for problem in _problems_of_value(value, operator):
            report.at(requirement.used_at, f"{named}: {problem.message}", "write another requirement")


def _check_message(operator: Operator, requirement: Requirement, report: Reporter) -> None:
    """Braces hold arguments, and expressions of arguments."""
    if requirement.message is None or requirement.message_location is None:
        return
    stray = re.search(r"[{}]", _PLACEHOLDER.sub(lambda m: " " * len(m.group()), requirement.message))
    if stray is not None:
        report.at_offset(
            requirement.message_location,
            stray.start(),
            f"'{stray.group()}' has no partner in the message",
            "write an argument in braces: {self}",
        )
    for match in _PLACEHOLDER.finditer(requirement.message):
        for problem in _problems_of_value(match.group(1), operator):
            offset = match.start(1) + problem.offset
            report.at_offset(requirement.message_location, offset, problem.message, problem.hint)


def _problems_of_value(text: str, operator: Operator) -> list[FormulaProblem]:
    """Mistakes in the text between the braces of a message."""
    names = operator.arguments.names()
    if text in names or text == OPERATOR_IN_MESSAGE:
        return []
    if text.isidentifier() or not text.strip():
        message = f"the message names '{text}', which is not an argument"
        return [FormulaProblem(0, message, did_you_mean(text, names))]

    try:
        return check_message_value(parse(text), operator)
    except ExpressionError as error:
        hint = error.hint or "write a value such as {size(self, 1)}"
        return [FormulaProblem(error.offset, error.message, hint)]
