"""``explain OP``: everything that follows from one entry, and where to find it."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

from codegen.cli.loading import base_program
from codegen.cli.python_signature import python_signatures
from codegen.diagnostics import Diagnostics, GenerationError, did_you_mean
from codegen.model import Operator, Program, read_program
from codegen.model.cpp import function_signature
from codegen.model.samples import samples_places


def explain(options: argparse.Namespace) -> int:
    problems = Diagnostics()
    program = read_program(options.yaml, problems, base_program(options))
    if program is None:
        raise GenerationError(problems)
    operators = _matching(program, options.operator)
    if not operators:
        print(f"{program.file}: no operator '{options.operator}'; {did_you_mean(options.operator, program.base_names())}",
              file=sys.stderr)
        return 1
    # What is generated is known when everything is right; the rest is worth seeing before.
    output = None if problems else options.output
    print("\n\n".join(_explained(program, operator, output) for operator in operators))
    if problems:
        print(f"\n{program.file} has problems ({len(problems)}): python -m codegen check", file=sys.stderr)
    return 0


def _matching(program: Program, name: str) -> tuple[Operator, ...]:
    """One overload by its full name, or all overloads of a base name; ``add_`` finds what it is generated from."""
    for known in (program, *([program.base] if program.base else [])):
        exact = [o for o in known if name in (o.name, o.unambiguous_name) and o.schema.overload_name]
        if exact:
            return tuple(exact)
        for candidate in (name, name.removesuffix("_"), name.removesuffix("_out")):
            if known.by_base_name(candidate):
                return known.by_base_name(candidate)
    return ()


def _explained(program: Program, operator: Operator, output: Path | None) -> str:
    sections = (
        ("entry", [f"{operator.location}", *operator.entry_text.rstrip().split("\n")]),
        ("C++", [function_signature(s) for s in operator.schemas()]),
        ("Python", python_signatures(operator)),
        ("dispatch", list(_dispatch(operator))),
        ("derivatives", list(_derivatives(operator))),
        ("dtypes", [", ".join(operator.dtypes)] if operator.dtypes else []),
        ("generated", list(_generated(program, operator, output)) if output else ["not while the file has problems"]),
        ("tests", list(_tests(program, operator))),
    )
    lines = [str(operator)]
    for title, content in sections:
        lines += ["", title, *(f"  {line}" if line else "" for line in content or ["none"])]
    return "\n".join(lines)


def _dispatch(operator: Operator) -> Iterator[str]:
    rows = [(d.key, d.kernel, f"{d.definition.path}:{d.definition.line}" if d.definition else "not written yet")
            for d in operator.dispatch]
    if operator.expr is not None:
        rows += [(key, "from expr", operator.expr.text) for key in ("CPU", "CUDA")]
    if operator.shape is not None:
        found = operator.shape_definition
        rows.append(("Meta", operator.shape, f"{found.path}:{found.line}" if found else "not written yet"))
    elif operator.structure in ("pointwise", "reduction"):
        rows.append(("Meta", f"from structure {operator.structure}", f"promotion {operator.promotion}"))
    widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
    return (f"{key:{widths[0]}}  {kernel:{widths[1]}}  {place}" for key, kernel, place in rows)


def _derivatives(operator: Operator) -> Iterator[str]:
    if operator.non_differentiable is not None:
        yield f"not differentiable: {operator.non_differentiable}"
    for derivative in operator.derivatives:
        yield f"{', '.join(derivative.inputs)}: {derivative.formula.text if derivative.formula else 'not differentiable'}"
    if operator.derives_automatically:
        if operator.expr is not None:
            yield from _derived(operator)
        elif operator.structure == "view":
            yield "the view is reversed"
        else:
            yield "through the operators that it calls"


def _derived(operator: Operator) -> Iterator[str]:
    """Gradients of ``expr``, as the expression package differentiates it."""
    from codegen import expressions

    assert operator.expr is not None
    differentiate = getattr(expressions, "differentiate", None)
    for argument in operator.tensor_arguments:
        if differentiate is None:
            yield f"{argument.name}: from expr"
        else:
            yield f"{argument.name}: grad * ({expressions.to_source(differentiate(operator.expr.node, argument.name))})"


def _generated(program: Program, operator: Operator, output: Path) -> Iterator[str]:
    """``path:line`` of each place in the generated tree, as far as the emitters tell."""
    try:
        places = list(importlib.import_module("codegen.emit").explain_files(program, operator))
    except ModuleNotFoundError:  # no emitters: the front half alone
        return
    for place in places:
        path, line = place if isinstance(place, tuple) else (place, None)
        yield f"{(output / path).as_posix()}" + (f":{line}" if line else "")


def _tests(program: Program, operator: Operator) -> Iterator[str]:
    for file in (program, program.base):
        if file is None:
            continue
        tests = Path(file.path).parent / "tests" / "ops"
        if operator.samples is not None:
            for path, line in samples_places(tests / "samples", operator.samples):
                yield f"samples {operator.samples}: {path.as_posix()}:{line}"
        for path in sorted(tests.glob("test_*.py")):
            yield f"pytest {path.as_posix()} -k {operator.unambiguous_name}"
