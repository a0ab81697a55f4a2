"""``aten/ops/<name>.h``: the structs in at::ops and the free functions.

Documentation is not in the headers: what an edited sentence recompiles is the bindings of its topic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from codegen.model import Operator
from codegen.model.former_names import formerly
from codegen.remembered import remembered_by
from codegen.schema import Arguments
from codegen.targets.torch_py.analysis.functions import Function, declared_parameters, functions_of
from codegen.targets.torch_py.emit.includes import header_of
from codegen.targets.torch_py.emit.places import place_of


class Inline(NamedTuple):
    """A free function: its parameters, and the arguments that it passes to ``call``."""

    name: str
    parameters: tuple[str, ...]
    arguments: tuple[str, ...]
    notice: str = ""  # of a former name


@dataclass(frozen=True)
class HeaderFunction:
    function: Function
    place: str
    inlines: tuple[Inline, ...]


def group_by_header(operators: Sequence[Operator]) -> dict[str, list[Operator]]:
    """The operators of each header, by path: overloads of one name share a header, whatever their topics."""
    found: dict[str, list[Operator]] = {}
    for operator in operators:
        found.setdefault(header_of(operator), []).append(operator)
    return found


def header_functions(operators: Sequence[Operator]) -> list[HeaderFunction]:
    """The functions that one header declares."""
    found = []
    declared: set[tuple[str, tuple[str, ...]]] = set()
    for operator in operators:
        for function in functions_of(operator):
            inlines = []
            for scalars in _scalar_choices(function):
                parameters = declared_parameters(function.schema.arguments, scalars)
                # Another overload of the operator may take the Scalar already.
                key = (function.name, tuple(_type_of(p) for p in parameters))
                if key not in declared:
                    declared.add(key)
                    arguments = _passed(function.schema.arguments, scalars)
                    inlines.append(Inline(function.name, parameters, arguments))
                    inlines += _former(function, parameters, arguments)

            found.append(HeaderFunction(function, place_of(operator), tuple(inlines)))
    return found


def _former(function: Function, parameters: tuple[str, ...], arguments: tuple[str, ...]) -> Iterator[Inline]:
    """The function under the names that it had."""
    for rename, former in formerly(function.operator):
        name = next(f.name for f in functions_of(former) if f.form == function.form)
        if name != function.name:
            notice = f"it is called at::{function.name} since {rename.since}"
            yield Inline(name, parameters, arguments, notice)


def former_headers(operators: Sequence[Operator]) -> dict[str, str]:
    """Headers of former names, which include the present ones: path -> path."""
    present = {header_of(operator) for operator in operators}
    found = {header_of(former): header_of(o) for o in operators for _, former in formerly(o)}
    return {path: own for path, own in found.items() if path not in present}


def _scalar_choices(function: Function) -> list[tuple[str, ...]]:
    """The tensor arguments that are numbers in each C++ overload: first none, then each alone."""
    is_inplace = function.form == "inplace"
    allowed = [name for name in function.operator.scalars if not (is_inplace and name == "self")]
    return [(), *((name,) for name in allowed)]


@remembered_by
def _passed(arguments: Arguments, scalars: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"wrapped_scalar({a.name})" if a.name in scalars else a.name for a in arguments)


def _type_of(parameter: str) -> str:
    return parameter.split(" = ")[0].rsplit(" ", 1)[0]
