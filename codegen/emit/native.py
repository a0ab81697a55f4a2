"""``aten/native/<Topic>Native.h``: declarations of what is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from codegen.emit import style
from codegen.emit.places import place_of
from codegen.model import Operator, cpp


@dataclass(frozen=True)
class Declaration:
    """``head`` ends with the parenthesis that ``parameters`` follow."""

    head: str
    parameters: tuple[str, ...]
    per_isa: bool


@dataclass(frozen=True)
class Entry:
    schema: str
    place: str
    declarations: tuple[Declaration, ...]


def loop_parameters(operator: Operator) -> tuple[str, ...]:
    """Of a kernel for LOOP_KEYS."""
    arguments = operator.schema.arguments
    if operator.structure == "pointwise":
        return ("TensorIteratorBase& iter", *(cpp.parameter(a) for a in arguments.non_tensors))
    if operator.structure == "reduction":
        return ("TensorIteratorBase& iter", *(cpp.parameter(a) for a in cpp.reduction_kernel_arguments(operator)))
    every = tuple(cpp.parameter(a) for a in arguments.flat_all)
    if operator.structure == "shaped":
        return every + tuple(f"const Tensor& {name}" for name in shaped_outputs(operator))
    return every


def shaped_outputs(operator: Operator) -> tuple[str, ...]:
    """Parameter names of the tensors that a shaped kernel fills."""
    fresh = [r for r in operator.schema.returns if not r.is_write]
    return tuple(f"out{i}" for i in range(len(fresh)))


def entries(operators: Sequence[Operator]) -> list[Entry]:
    """What each operator declares; a kernel that several share with one signature is declared once."""
    seen: set[tuple[str, tuple[str, ...]]] = set()
    found = []
    for operator in operators:
        fresh = []
        for declaration in _declarations(operator):
            key = (declaration.head, _types(declaration.parameters))
            if key not in seen:
                seen.add(key)
                fresh.append(declaration)
        if fresh:
            found.append(Entry(str(operator.schema), place_of(operator), tuple(fresh)))
    return found


def _declarations(operator: Operator) -> list[Declaration]:
    found = []
    every = tuple(cpp.parameter(a) for a in operator.schema.arguments.flat_all)
    if operator.structure == "shaped" and operator.shape is not None:
        found.append(Declaration(cpp.shape_signature(operator, operator.shape).split("(")[0] + "(", every, False))
    for entry in style.loop_entries(operator):
        assert entry.definition is not None
        found.append(Declaration(f"void {entry.kernel}(", loop_parameters(operator), entry.definition.is_per_isa))
    result = cpp.results_type(operator.schema) if operator.structure != "mutation" else "void"
    for direct in style.direct_kernels(operator):
        found.append(Declaration(f"{result} {direct.kernel}(", every, direct.per_isa))
    return found


def _types(parameters: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(p.rsplit(" ", 1)[0] for p in parameters)
