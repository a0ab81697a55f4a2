"""Checks that every tensor argument has a gradient or is declared to have none."""

from __future__ import annotations

from codegen.diagnostics import did_you_mean
from codegen.model.checks.report import Reporter
from codegen.model.operator import Derivative, Operator
from codegen.model.reading import Context
from codegen.model.words import split_words

# Operators of these structures are differentiated through what they call, or by reversing the view.
_AUTOMATIC = ("view", "composite")


def check(operator: Operator, context: Context, has_structure: bool) -> None:
    report = Reporter(operator, context)
    known = [a.name for a in operator.tensor_arguments]
    seen: set[str] = set()

    for derivative in operator.derivatives:
        _check_inputs(operator, derivative, known, seen, report)

    if operator.non_differentiable is not None and "non_differentiable" in operator.key_locations:
        if operator.derivatives:
            report.at_key("non_differentiable", "the entry has derivatives as well", "remove one of the two")
        return

    _check_old_values(operator, report)
    reason = implied_reason(operator.structure, operator.promotion, operator)
    if operator.derivatives and reason is not None:
        report.at_key("derivatives", f"there is no gradient: {reason}", "remove 'derivatives'")
        return
    if operator.derivatives:
        for name in known:
            if name not in seen:
                report.at_key(
                    "derivatives",
                    f"'{name}' has no derivative",
                    f"write {name}: and a formula, or {name}: non_differentiable",
                )

    elif (
        _is_required(context, has_structure)
        and "derivatives" not in operator.key_locations
        and not _follows(operator)
    ):
        names = ", ".join(known)
        report.at_key(
            "func",
            f"the entry has no derivative for {names}",
            f"write derivatives: and below it {known[0]}: and a formula, or non_differentiable: and the "
            "reason",
        )


def _is_required(context: Context, has_structure: bool) -> bool:
    return has_structure and "derivatives" in context.dialect.required


def _check_old_values(operator: Operator, report: Reporter) -> None:
    """A mutation whose graph does not mention the old values would pass the gradient on to them."""
    for derivative in operator.derivatives if operator.structure == "mutation" else ():
        for name in derivative.inputs if derivative.is_non_differentiable else ():
            argument = operator.arguments.find(name)
            if argument is not None and argument.is_write:
                report.at(
                    derivative.location,
                    f"'{name}' is written to, so the gradient of its old values is a formula",
                    f"write {name}: zeros_like(grad) if the new values do not depend on the old ones",
                )


def _follows(operator: Operator) -> bool:
    """Whether the gradient follows without a formula."""
    return (
        operator.structure in _AUTOMATIC
        or "expr" in operator.key_locations
        or operator.non_differentiable is not None
    )


def _check_inputs(
    operator: Operator, derivative: Derivative, known: list[str], seen: set[str], report: Reporter
) -> None:
    key = report.context.texts[derivative.location]
    for word in split_words(key):
        name = word.text

        argument = operator.arguments.find(name)
        if argument is None:
            report.at(
                word.location,
                f"a derivative for '{name}', which is not an argument",
                did_you_mean(name, known),
            )
        elif name not in known:
            report.at(
                word.location,
                f"a derivative for '{name}', which is not a tensor but {argument.type}",
                "remove it",
            )
        elif name in seen:
            report.at(word.location, f"'{name}' has two derivatives", "remove one")

        seen.add(name)


def implied_reason(structure: str, promotion: str | None, operator: Operator) -> str | None:
    """The reason for having no gradient that follows from schema and promotion, or None."""
    if structure in ("composite", "mutation"):
        return None
    if promotion in ("comparison", "bool"):
        return "its result is boolean"
    if promotion == "index":
        return "its result is an index"
    if not operator.tensor_arguments:
        return "it takes no tensor"
    if not any(r.type.is_tensor_like for r in operator.schema.returns):
        return "it returns no tensor"
    return None
