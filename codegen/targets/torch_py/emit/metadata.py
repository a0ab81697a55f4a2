"""``torch_py/_generated/operators.json``: facts on operators for tests, documentation and the compiler."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from codegen.expressions import numpy_expr, numpy_row_expr, python_formula, requirement_text
from codegen.model import Derivative, Operator, Program
from codegen.targets.torch_py.analysis.argument_names import as_spelled
from codegen.targets.torch_py.analysis.functions import functions_of
from codegen.targets.torch_py.analysis.gradient_kind import gradient_kind
from codegen.targets.torch_py.analysis.implied_operators import MISSING
from codegen.targets.torch_py.emit.includes import header_of
from codegen.targets.torch_py.emit.parameters import is_factory
from codegen.targets.torch_py.python_modules import place


def frame(program: Program) -> dict[tuple[int, ...], str]:
    """What precedes and follows the operators: the pieces (0,) and (2,)."""
    sets = {name: list(s.members) for name, s in program.dtype_sets.items()}
    head = json.dumps({"library": program.library, "file": program.file, "dtype_sets": sets}, sort_keys=True)
    return {(0,): head[:-1] + ', "operators": [\n', (2,): "\n]}\n"}


def piece(position: int, lines: Sequence[str], is_first: bool) -> dict[tuple[int, ...], str]:
    """The operators of a topic. One operator a line, in file order, so that differences read well."""
    return {(1, position): ("" if is_first else ",\n") + ",\n".join(lines)} if lines else {}


def rows(operators: Iterable[Operator], program: Program, node_names: Mapping[str, str]) -> list[str]:
    encode = json.JSONEncoder(sort_keys=True).encode
    return [encode(_row(operator, program, node_names)) for operator in operators]


def _row(operator: Operator, program: Program, node_names: Mapping[str, str]) -> dict[str, Any]:
    """All facts on one operator."""
    return {
        **_signature(operator),
        **_entry(operator),
        **_formulas(operator, program, node_names),
        "header": header_of(operator),
        "kernels": {
            d.key: [d.kernel, d.definition.path] for d in operator.dispatch if d.definition is not None
        },
        "doc": operator.doc.strip(),
        "each": _each(operator),
    }


def _signature(operator: Operator) -> dict[str, Any]:
    """Names, schemas and arguments."""
    arguments = operator.schema.arguments
    tags = operator.tags
    takes_generator = any(a.type.base.name == "Generator" for a in arguments)

    return {
        "name": operator.name,
        "base_name": operator.base_name,
        "unambiguous_name": operator.unambiguous_name,
        "schema": str(operator.schema),
        "arguments": [
            [a.spelling, str(a.type), None if a.default is None else str(a.default)]
            for a in arguments.flat_all
        ],
        "schemas": {f.form: str(f.schema) for f in functions_of(operator)},
        "scalars": [a.spelling for a in arguments if a.name in operator.scalars],
        "is_random": "nondeterministic_seeded" in tags or takes_generator,
        "is_factory": is_factory(operator),
    }


def _entry(operator: Operator) -> dict[str, Any]:
    """What the entry in the YAML file says."""
    return {
        "topic": operator.topic,
        "line": operator.location.line,
        "variants": list(operator.variants),
        "python_module": operator.python_module,
        "aliases": list(operator.aliases),
        "since": operator.since,
        "renamed": [[rename.name, rename.since] for rename in operator.renamed],
        "deprecated": None
        if operator.deprecated is None
        else {"since": operator.deprecated.since, "use": operator.deprecated.use},
        "deprecated_orders": [list(order) for order in operator.deprecated_orders],
        "structure": operator.structure,
        "out_dtype": operator.out_dtype,
        "promotion": operator.promotion,
        "dtypes": list(operator.dtypes),
        "samples": operator.samples,
        "tags": list(operator.tags),
    }


def _formulas(operator: Operator, program: Program, node_names: Mapping[str, str]) -> dict[str, Any]:
    """The gradient, the requirements and the formula of a pointwise operator."""
    gradient = gradient_kind(operator)
    spelled = {a.name: a.spelling for a in operator.schema.arguments}.__getitem__
    expr = operator.expr

    return {
        "gradient": gradient,
        "node": node_names[operator.unambiguous_name] if gradient == "node" else None,
        "non_differentiable": operator.non_differentiable,
        "derivatives": {
            ", ".join(spelled(n) for n in d.inputs): _formula(d, operator, program)
            for d in operator.derivatives
        },
        "requires": [
            requirement_text(as_spelled(r.check.node, operator)) for r in operator.requires if r.form is None
        ],
        "expr": None if expr is None else expr.text,
        "reference": None if operator.reference is None else operator.reference.text,
        "numpy": _numpy(operator),
    }


def _numpy(operator: Operator) -> str | None:
    """The formula in NumPy."""
    if operator.expr is None:
        return None
    node = as_spelled(operator.expr.node, operator)
    if operator.is_over_rows:
        return numpy_row_expr(node, operator, is_reduced=operator.structure == "reduction")
    return numpy_expr(node)


def _each(operator: Operator) -> dict[str, Any] | None:
    """Of a list operator: its operator, and the arguments of the calls (EachArgument of the model)."""
    each = operator.each
    if each is None:
        return None
    return {"operator": each.operator.name, "arguments": [[a.kind, a.source] for a in each.arguments]}


def _formula(derivative: Derivative, operator: Operator, program: Program) -> dict[str, str | None]:
    """The formula as the entry writes it, and as Python for the compiler."""
    if derivative.formula is None:
        return {"formula": None, "python": None}

    node = derivative.formula.node
    python = None
    if node != MISSING:
        python = python_formula(as_spelled(node, operator), operator, program, place=place)
    return {"formula": derivative.formula.text, "python": python}
