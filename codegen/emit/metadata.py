"""``torch_py/_generated/operators.json``: what tests, documentation and the compiler ask about operators."""

from __future__ import annotations

import json
from typing import Any

from codegen.analysis.argument_names import as_spelled
from codegen.analysis.functions import functions_of
from codegen.analysis.gradient_kind import gradient_kind
from codegen.analysis.implied_operators import MISSING
from codegen.emit.includes import header_of
from codegen.emit.parameters import is_factory
from codegen.expressions import numpy_expr, python_formula, requirement_text
from codegen.model import Derivative, Operator, Program


def render(program: Program, node_names: dict[str, str]) -> str:
    """One operator a line, in file order, so that differences read well."""
    rows = [
        json.dumps(_row(o, program, node_names), sort_keys=True, separators=(", ", ": ")) for o in program
    ]
    sets = {name: list(s.members) for name, s in program.dtype_sets.items()}
    head = json.dumps({"library": program.library, "file": program.file, "dtype_sets": sets}, sort_keys=True)
    return head[:-1] + ', "operators": [\n' + ",\n".join(rows) + "\n]}\n"


def _row(operator: Operator, program: Program, node_names: dict[str, str]) -> dict[str, Any]:
    gradient = gradient_kind(operator)
    spelled = {a.name: a.spelling for a in operator.schema.arguments}.__getitem__
    return {
        "name": operator.name,
        "base_name": operator.base_name,
        "unambiguous_name": operator.unambiguous_name,
        "schema": str(operator.schema),
        "arguments": [
            [a.spelling, str(a.type), None if a.default is None else str(a.default)]
            for a in operator.schema.arguments.flat_all
        ],
        "schemas": {f.form: str(f.schema) for f in functions_of(operator)},
        "topic": operator.topic,
        "line": operator.location.line,
        "variants": list(operator.variants),
        "python_module": operator.python_module,
        "aliases": list(operator.aliases),
        "structure": operator.structure,
        "promotion": operator.promotion,
        "dtypes": list(operator.dtypes),
        "scalars": [a.spelling for a in operator.schema.arguments if a.name in operator.scalars],
        "samples": operator.samples,
        "tags": list(operator.tags),
        "is_random": "nondeterministic_seeded" in operator.tags
        or any(a.type.base.name == "Generator" for a in operator.schema.arguments),
        "gradient": gradient,
        "node": node_names[operator.unambiguous_name] if gradient == "node" else None,
        "non_differentiable": operator.non_differentiable,
        "derivatives": {
            ", ".join(spelled(n) for n in d.inputs): _formula(d, operator, program)
            for d in operator.derivatives
        },
        "requires": [requirement_text(as_spelled(r.check.node, operator)) for r in operator.requires],
        "expr": operator.expr.text if operator.expr is not None else None,
        "numpy": numpy_expr(as_spelled(operator.expr.node, operator)) if operator.expr is not None else None,
        "is_factory": is_factory(operator),
        "header": header_of(operator),
        "kernels": {
            d.key: [d.kernel, d.definition.path] for d in operator.dispatch if d.definition is not None
        },
        "doc": operator.doc.strip(),
        "each": _each(operator),
    }


def _each(operator: Operator) -> dict[str, Any] | None:
    """Of list operators: what they call, and the arguments of those calls (codegen.model.EachArgument)."""
    each = operator.each
    return (
        None
        if each is None
        else {"operator": each.operator.name, "arguments": [[a.kind, a.source] for a in each.arguments]}
    )


def _formula(derivative: Derivative, operator: Operator, program: Program) -> dict[str, str | None]:
    """The formula as the entry writes it, and as Python for the compiler."""
    if derivative.formula is None:
        return {"formula": None, "python": None}
    node = derivative.formula.node
    return {
        "formula": derivative.formula.text,
        "python": None if node == MISSING else python_formula(as_spelled(node, operator), operator, program),
    }
