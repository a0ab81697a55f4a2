"""All operators that some operators need: through derivatives, kernels and lists of calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from codegen.expressions import operators_of
from codegen.model import Operator, Program
from codegen.targets.torch_py.selection.sources import CallGraph, read_pieces


def closure(program: Program, wanted: Iterable[Operator], root: Path) -> frozenset[str]:
    """The unambiguous names of the operators that a build needs. ``program`` has what formulas imply, and
    ``root`` the sources of the kernels."""
    graph = CallGraph(read_pieces(root))
    by_call = _by_cpp_name(program)
    pending = [program.operators[operator.unambiguous_name] for operator in wanted]
    pending += [o for call in graph.calls_of_all_programs() for o in by_call.get(call, ())]

    found: dict[str, Operator] = {}
    while pending:
        operator = pending.pop()
        if operator.unambiguous_name in found:
            continue

        found[operator.unambiguous_name] = operator
        pending += _of_formulas(operator, program)
        if operator.each is not None:
            pending.append(program.operators[operator.each.operator.unambiguous_name])
        for function in _functions(operator):
            pending += [o for call in graph.calls_of(function) for o in by_call.get(call, ())]
    return frozenset(found)


def _by_cpp_name(program: Program) -> dict[str, list[Operator]]:
    """Operators by what follows at:: in a call: ``add_out``, and ``add_Tensor`` of at::ops::add_Tensor."""
    found: dict[str, list[Operator]] = {}
    for operator in program:
        names = set()
        for schema in operator.schemas():
            names |= {schema.base_name, f"{schema.base_name}_out", schema.unambiguous_name}
        for name in names:
            found.setdefault(name, []).append(operator)
    return found


def _of_formulas(operator: Operator, program: Program) -> Iterator[Operator]:
    formulas = [d.formula for d in operator.derivatives if d.formula is not None]
    for formula in formulas:
        for name in operators_of(formula.node):
            yield from program.by_base_name(name)


def _functions(operator: Operator) -> Iterator[str]:
    yield from (entry.kernel for entry in operator.dispatch)
    if operator.shape is not None:
        yield operator.shape
