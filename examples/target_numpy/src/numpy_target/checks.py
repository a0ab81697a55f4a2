"""What entries must satisfy in NumPy, reported at their place in the file."""

from __future__ import annotations

import re

from codegen.expressions import FUNCTIONS, check_differentiable, check_expr, check_formula, nodes
from codegen.model import Operator, Program
from codegen.model.checks.report import Reporter
from codegen.model.reading import Context
from numpy_target.functions import gradients_of, samples_of


def check(operator: Operator, context: Context, has_structure: bool) -> None:
    report = Reporter(operator, context)
    for entry in operator.dispatch if operator.expr is None else ():
        if entry.definition is None:
            near = context.kernels.near(entry.kernel)
            wanted = f"write def {entry.kernel}({', '.join(operator.arguments.names())}) in kernels.py"
            hint = f"did you mean {near}? or {wanted}" if near else wanted
            report.at(entry.location, f"the kernel '{entry.kernel}' is defined nowhere", hint)

    shapes = samples_of(operator)
    is_complete = len(shapes) in (1, len(operator.tensor_arguments))
    if not is_complete or not all(re.fullmatch(r"\d+(x\d+)*", shape) for shape in shapes):
        report.at_key("samples", "samples are a shape, or one for each tensor", "write samples: 2x3, 3x4")

    if operator.expr is not None and operator.expr.node is not None:
        for part in nodes.walk(operator.expr.node):
            if isinstance(part, nodes.Call) and _is_special(part.function):
                message = f"NumPy has no function '{part.function}'"
                report.at_offset(
                    operator.expr.location, part.offset, message, "write it with other functions"
                )


def _is_special(name: str) -> bool:
    """Whether a function of formulas is in codegen's own module, which a library should not need."""
    return name in FUNCTIONS and "special." in FUNCTIONS[name].numpy


def check_gradients(program: Program, context: Context) -> None:
    """The derivatives of formulas, which nobody has written, are in terms of operators that exist."""
    for operator in program:
        formula = operator.expr
        if formula is None or formula.node is None or not operator.derives_automatically:
            continue
        if check_expr(formula.node, operator) or check_differentiable(formula.node, operator):
            continue  # reported for every target

        for names, node in gradients_of(operator):
            for problem in check_formula(node, operator, program, names):
                message = f"the gradient of {', '.join(names)} is {nodes.to_source(node)}: {problem.message}"
                Reporter(operator, context).at(formula.location, message, problem.hint)
