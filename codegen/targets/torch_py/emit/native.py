"""``aten/native/declarations/*.h``: declarations of hand-written kernels, one header for each source file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codegen.model import Operator
from codegen.remembered import remembered
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.analysis.kernels import (
    cuda_entry,
    direct_kernels,
    is_formula_kernel,
    layout_entries,
    loop_entries,
    shaped_outputs,
)
from codegen.targets.torch_py.emit.places import place_of
from codegen.targets.torch_py.kernels import is_per_isa
from codegen.targets.torch_py.keys import INPLACE_KEY
from codegen.targets.torch_py.rooms import shape_file


class Declaration(NamedTuple):
    """A function: ``head`` is its result and its name."""

    head: str
    parameters: tuple[str, ...]
    is_per_isa: bool  # compiled once per instruction set


class Entry(NamedTuple):
    """The functions of one source file that one operator uses."""

    schema: str
    place: str
    declarations: tuple[Declaration, ...]


def loop_parameters(operator: Operator) -> tuple[str, ...]:
    """The parameters of a kernel that a wrapper calls as the operator's structure requires."""
    arguments = operator.schema.arguments
    iterator = "TensorIteratorBase& iter"
    if operator.structure == "pointwise":
        return (iterator, *(cpp.parameter(a) for a in arguments.non_tensors))
    if operator.structure == "reduction":
        return (iterator, *(cpp.parameter(a) for a in cpp.reduction_kernel_arguments(operator)))

    every = tuple(cpp.parameter(a) for a in arguments.flat_all)
    if operator.structure == "shaped":
        return every + tuple(f"const Tensor& {name}" for name in shaped_outputs(operator))
    return every


def header_of_source(path: str) -> str:
    """The generated header that declares the kernels of one source file, so that others see no change."""
    stem = path.removeprefix("aten/native/").rsplit(".", 1)[0]
    return f"aten/native/declarations/{stem}.h"


def by_source(operators: Sequence[Operator]) -> dict[str, list[Entry]]:
    """The declarations of each source file. A kernel that several operators share is declared once."""
    seen: set[tuple[str, str, tuple[str, ...]]] = set()
    found: dict[str, list[Entry]] = {}
    for operator in operators:
        own: dict[str, list[Declaration]] = {}
        for path, declaration in _declarations(operator):
            key = (path, declaration.head, _types(declaration.parameters))
            if key not in seen:
                seen.add(key)
                own.setdefault(path, []).append(declaration)

        for path, declarations in own.items():
            entry = Entry(str(operator.schema), place_of(operator), tuple(declarations))
            found.setdefault(path, []).append(entry)
    return found


def sources_of(operators: Sequence[Operator]) -> list[str]:
    """Hand-written files that hold kernels or shape rules of ``operators``."""
    return sorted(
        {path for operator in operators for path, _ in _declarations(operator) if not is_formula_kernel(path)}
    )


@remembered
def _declarations(operator: Operator) -> tuple[tuple[str, Declaration], ...]:
    """The hand-written functions that ``operator`` uses, each with its source file."""
    return tuple(_declared(operator))


def _declared(operator: Operator) -> Iterator[tuple[str, Declaration]]:
    every = tuple(cpp.parameter(a) for a in operator.schema.arguments.flat_all)
    if operator.structure == "shaped" and operator.shape is not None:
        head = cpp.shape_signature(operator, operator.shape).split("(")[0]
        place = operator.shape_definition
        path = place.path if place is not None else shape_file(operator)
        yield path, Declaration(head, every, False)

    for entry in loop_entries(operator):
        assert entry.definition is not None
        head = f"void {entry.kernel}"
        declaration = Declaration(head, loop_parameters(operator), is_per_isa(entry.definition))
        yield entry.definition.path, declaration

    result = cpp.results_type(operator.schema) if operator.structure != "mutation" else "void"
    for direct in direct_kernels(operator):
        # A kernel of the CUDA library may leave cases to the composition of its operator.
        is_shared = "All" in direct.keys and cuda_entry(operator) is not None
        head = f"{'TORCH_PY_API ' if is_shared else ''}{result} {direct.kernel}"
        yield direct.definition.path, Declaration(head, every, is_per_isa(direct.definition))

    for layout in layout_entries(operator):
        assert layout.definition is not None
        yield layout.definition.path, Declaration(f"{result} {layout.kernel}", every, False)

    inplace = operator.dispatch_for(INPLACE_KEY)
    if inplace is not None and inplace.definition is not None:
        yield inplace.definition.path, Declaration(f"void {inplace.kernel}", every, False)


def _types(parameters: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(p.rsplit(" ", 1)[0] for p in parameters)
