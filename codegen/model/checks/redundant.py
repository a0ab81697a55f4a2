"""Finds keys whose value follows anyway and that an entry can leave out."""

from __future__ import annotations

from collections.abc import Iterator

from codegen.diagnostics import Diagnostic, Location
from codegen.dialect import Dialect
from codegen.expressions import infer_promotion, infer_row_promotion
from codegen.model import implied, vocabulary
from codegen.model.autocast import Autocast
from codegen.model.operator import Operator
from codegen.model.program import Program


def redundancies(program: Program) -> list[Diagnostic]:
    """A diagnostic for each key, in file order."""
    found = [
        Diagnostic(location, operator.name, f"'{text}' follows without being written", f"leave it out: {why}")
        for operator in program
        if operator.each is None
        for location, text, why in _redundant(operator, program.dialect)
    ]
    return sorted(found)


def _redundant(operator: Operator, dialect: Dialect) -> Iterator[tuple[Location, str, str]]:
    """Place, text and reason."""
    written = operator.key_locations
    schema = operator.schema
    for key, value, why in _plain_defaults(operator, dialect):
        if key in written and getattr(operator, key) == value:
            text = ", ".join(value) if type(value) is tuple else value
            yield written[key], f"{key}: {text}", why

    main = None if dialect.implied_kernel is None else dialect.implied_kernel(schema, operator.structure)
    places = [entry.location for entry in operator.dispatch]
    for entry in operator.dispatch:
        is_main = not entry.is_implied and (entry.key, entry.kernel) == main
        if is_main and places.count(entry.location) == 1:  # ``CPU, Meta: item`` says more
            yield entry.location, f"{entry.key}: {entry.kernel}", "the kernel is found by the operator's name"
    for requirement in operator.requires:
        if requirement.error_location is not None and requirement.error == vocabulary.ERRORS[0]:
            yield requirement.error_location, f"error: {requirement.error}", "it is the default"


def _plain_defaults(operator: Operator, dialect: Dialect) -> Iterator[tuple[str, object, str]]:
    """Key, the value that follows, and why."""
    schema = operator.schema
    yield "variants", ("function",), "it is the default"
    yield "python_module", implied.python_module(schema, dialect), "the name says so"
    yield "autocast", Autocast(), "it is the default"
    yield "out_dtype", implied.out_dtype(schema, operator.structure), "it follows from the structure"
    yield "promotion", *_promotion(operator)

    if operator.structure == "shaped":
        yield "shape", implied.shape_rule(schema), "the function is found by the operator's name"

    if operator.library is None:
        why = (
            "private operators need none"
            if operator.python_module == "private"
            else "it is the operator's name"
        )
        yield "samples", implied.samples(schema, operator.python_module), why


def _promotion(operator: Operator) -> tuple[str | None, str]:
    if operator.expr is not None and operator.expr.node is not None:
        if operator.structure == "pointwise":
            return infer_promotion(operator.expr.node, operator), "it follows from expr"
        if operator.structure == "reduction":
            implied_promotion = infer_row_promotion(operator.expr.node, operator, operator.dtypes)
            return implied_promotion, "it follows from expr"
    return vocabulary.PROMOTIONS.get(operator.structure, (None,))[0], "it is the default"
