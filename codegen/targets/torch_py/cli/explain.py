"""``explain OP``: everything that follows from one entry, and where to find it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.cli.loading import base_program
from codegen.diagnostics import Diagnostics, GenerationError
from codegen.expressions import operators_of, to_source
from codegen.model import Derivative, Operator, Program, read_program
from codegen.targets.torch_py.analysis.kernels import cuda_entry, runs_on_host
from codegen.targets.torch_py.cli.lookup import not_found, operators_called, overloads_of
from codegen.targets.torch_py.cli.python_signature import python_signatures
from codegen.targets.torch_py.cpp import function_signature
from codegen.targets.torch_py.samples import samples_places

if TYPE_CHECKING:
    from codegen.targets.torch_py.emit.explain import Explanation


def explain(options: argparse.Namespace) -> int:
    problems = Diagnostics()
    program = read_program(options.yaml, problems, base_program(options))
    if program is None:
        raise GenerationError(problems)

    operators = operators_called(program, options.operator)
    if not operators:
        operators = overloads_of(program, options.operator)
        if operators:
            known = ", ".join(o.name for o in operators)
            print(f"{program.file}: no overload '{options.operator}'; there is {known}", file=sys.stderr)
    if not operators:
        print(f"{program.file}: {not_found(program, options.operator)}", file=sys.stderr)
        return 1

    print("\n\n".join(explained(program, operators, None if problems else options.output)))
    if problems:
        print(f"\n{program.file} has problems ({len(problems)}): python -m codegen check", file=sys.stderr)
    return 0


def explained(program: Program, operators: tuple[Operator, ...], output: Path | None) -> Iterator[str]:
    """One text for each operator. ``output`` is None while the file has problems: generated files are then
    unknown."""
    from codegen.output.generation import CACHE
    from codegen.targets.torch_py.emit.explain import Explanation

    explanations: dict[str, Explanation] = {}
    for operator in operators:
        explanation = None
        if output is not None and operator.unambiguous_name in program.operators:
            cache = output / CACHE
            topic = [o for o in operators if o.topic == operator.topic]
            explanation = explanations.get(operator.topic) or Explanation(
                program, topic, cache if cache.is_dir() else None
            )
            explanations[operator.topic] = explanation
        yield _text(program, operator, explanation, output)


def _text(program: Program, operator: Operator, explanation: Explanation | None, output: Path | None) -> str:
    sections = (
        ("entry", [f"{operator.location}", *operator.entry_text.rstrip().split("\n")]),
        ("C++", [function_signature(s) for s in operator.schemas()]),
        ("Python", python_signatures(operator, Path(program.path).parent)),
        ("dispatch", list(_dispatch(operator, explanation, output))),
        ("derivatives", list(_derivatives(program, operator, explanation))),
        ("dtypes", [", ".join(operator.dtypes)] if operator.dtypes else []),
        ("requires", list(_requirements(operator))),
        (
            "generated",
            list(_generated(operator, explanation, output))
            if output
            else ["not while the file has problems"],
        ),
        ("values", [_compared_with(operator)]),
        ("tests", list(_tests(program, operator))),
    )

    lines = [str(operator)]
    for title, content in sections:
        lines += ["", title, *(f"  {line}" if line else "" for line in content or ["none"])]
    return "\n".join(lines)


def _dispatch(operator: Operator, explanation: Explanation | None, output: Path | None) -> Iterator[str]:
    rows = [
        (d.key, d.kernel, f"{d.definition.path}:{d.definition.line}" if d.definition else "not written yet")
        for d in operator.dispatch
    ]

    if operator.expr is not None:
        rows.append(("CPU", "from expr", operator.expr.text))
        expanded = explanation.program.operators[operator.unambiguous_name] if explanation else operator
        entry = cuda_entry(expanded)
        if output is not None and entry is not None and entry not in operator.dispatch:
            assert entry.definition is not None
            place = (output / entry.definition.path).as_posix()
            rows.append(("CUDA", "from expr", f"{place}, {len(operator.dtypes)} dtypes"))
    elif runs_on_host(operator):
        rows.append(("CUDA", "on the host", "the CPU's kernel, on copies"))

    if operator.shape is not None:
        found = operator.shape_definition
        rows.append(("Meta", operator.shape, f"{found.path}:{found.line}" if found else "not written yet"))
    elif operator.structure in ("pointwise", "reduction"):
        rows.append(("Meta", f"from structure {operator.structure}", f"promotion {operator.promotion}"))

    widths = [max((len(row[i]) for row in rows), default=0) for i in (0, 1)]
    return (f"{key:{widths[0]}}  {kernel:{widths[1]}}  {place}" for key, kernel, place in rows)


def _derivatives(program: Program, operator: Operator, explanation: Explanation | None) -> Iterator[str]:
    if operator.non_differentiable is not None:
        yield f"not differentiable: {operator.non_differentiable}"
    for derivative in operator.derivatives:
        yield _formula(derivative)
    if operator.derives_automatically:
        if operator.expr is not None:
            yield from _derived(program, operator, explanation.program) if explanation else ["from expr"]
        elif operator.structure == "view":
            yield "the view is reversed"
        else:
            yield "through the operators that it calls"


def _requirements(operator: Operator) -> Iterator[str]:
    """Each condition, with the name that the file gives it and the error that it raises."""
    for requirement in operator.requires:
        name = f"{requirement.name}: " if requirement.name else ""
        message = f": {requirement.message}" if requirement.message else ""
        form = f" ({requirement.form} only)" if requirement.form else ""
        yield f"{name}{requirement.check.text}{form}  {requirement.error}{message}"


def _formula(derivative: Derivative) -> str:
    return (
        f"{', '.join(derivative.inputs)}: "
        f"{derivative.formula.text if derivative.formula else 'not differentiable'}"
    )


def _derived(declared: Program, operator: Operator, expanded: Program) -> Iterator[str]:
    """The derivatives of ``expr``: calls of private operators, and below them the formulas and derivatives of
    those."""
    own = expanded.operators[operator.unambiguous_name]
    called = [name for d in own.derivatives if d.formula is not None for name in operators_of(d.formula.node)]
    yield from map(_formula, own.derivatives)
    for name in dict.fromkeys(called):
        helper = expanded.operators.get(name)
        if helper is not None and name not in declared.operators and helper.expr is not None:
            yield f"{name} = {to_source(helper.expr.node)}"
            yield from (f"  {_formula(d)}" for d in helper.derivatives)


def _generated(operator: Operator, explanation: Explanation | None, output: Path) -> Iterator[str]:
    """``path:line`` of each place in the generated tree."""
    if explanation is None:
        yield "where the program that this one extends is generated"
        return
    yield from (f"{(output / path).as_posix()}:{line}" for path, line in explanation.places(operator))
    yield f"{(output / explanation.metadata).as_posix()}"


def _compared_with(operator: Operator) -> str:
    """What tests compare the values with."""
    if operator.expr is not None:
        return "compared with expr in NumPy, and with PyTorch if it has the operator"
    if operator.reference is not None:
        return (
            f"compared with the reference {operator.reference.text}, and with PyTorch if it has the operator"
        )
    return "compared with PyTorch, where it has the operator; write reference: if it does not"


def _tests(program: Program, operator: Operator) -> Iterator[str]:
    for file in (program, program.base):
        if file is None:
            continue
        if operator.samples is not None:
            for path, line in samples_places(Path(file.path).parent, operator.samples):
                yield f"samples {operator.samples}: {path.as_posix()}:{line}"

        tests = Path(file.path).parent / "tests" / "ops"
        if file.operators.get(operator.unambiguous_name) is operator and tests.is_dir():
            yield f"python -m pytest {tests.as_posix()} -k {operator.name}"
