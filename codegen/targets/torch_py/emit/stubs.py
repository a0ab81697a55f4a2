"""``.pyi`` declarations of operators: functions of a module, and methods of Tensor."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from codegen.model.keywords import PYTHON_KEYWORDS
from codegen.remembered import remembered_by
from codegen.schema import Return, Symbol, Type
from codegen.targets.torch_py.emit.bindings import Callable, Overload, Shard
from codegen.targets.torch_py.emit.parameters import Parameter, Parameters

# Kind -> type. Builtins are spelled _int and so on, because Tensor has methods with their names.
_TYPES = {
    "Tensor": "Tensor",
    "TensorOrNumber": "Tensor | Number",
    "TensorList": "Sequence[Tensor]",
    "OptionalTensorList": "Sequence[Tensor | None]",
    "Int": "_int",
    "Float": "_float",
    "FloatList": "Sequence[_float]",
    "Bool": "_bool",
    "BoolList": "Sequence[_bool]",
    "Scalar": "Number",
    "ScalarList": "Sequence[Number]",
    "String": "str",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device | str | _int",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
}
_RESULTS = {
    "Tensor": "Tensor",
    "int": "_int",
    "SymInt": "_int",
    "float": "_float",
    "bool": "_bool",
    "Scalar": "Number",
    "ScalarType": "dtype",
    "str": "str",
}
# Names of the numbers that losses take for their reduction.
_REDUCTIONS = {"None": "0", "Mean": "1", "Sum": "2"}


class NamedResult(NamedTuple):
    name: str
    fields: tuple[tuple[str, str], ...]


class Stub(NamedTuple):
    """One ``def``; with ``is_overload``, it is decorated."""

    name: str
    parameters: str
    result: str
    is_overload: bool
    doc: str
    notice: str  # of a deprecated operator, for the decorator; else empty


def named_results(shard: Shard) -> list[NamedResult]:
    found = {}
    for body in shard.bodies:
        if body.return_type:
            fields = tuple((str(r.name), _result(r.type)) for r in body.function.schema.returns)
            found[body.return_type] = NamedResult(body.return_type, fields)
    return list(found.values())


def stubs_of(shard: Shard, module: str) -> list[Stub]:
    """The declarations that a shard has in a module."""
    return [
        stub
        for callable_ in shard.of_module(module)
        if callable_.name not in PYTHON_KEYWORDS
        for stub in _stubs(callable_)
    ]


def in_order(stubs: Iterable[Stub]) -> list[Stub]:
    """By name; the overloads of one keep their order."""
    return sorted(stubs, key=lambda stub: stub.name)


def signatures_of(overload: Overload, is_method: bool) -> list[tuple[str, str]]:
    """Parameters and result; two of them where a list of ints may also be several arguments."""
    result = _results(overload)
    parameters = overload.parameters
    found = [(_listed(parameters, overload.self_slot, is_method, False), result)]
    if any("kVarargs" in p.flags for p in parameters):
        found.append((_listed(parameters, overload.self_slot, is_method, True), result))
    return found


def _stubs(callable_: Callable) -> list[Stub]:
    lines: dict[str, tuple[str, str, str]] = {}
    for overload in callable_.overloads:
        found = callable_.notice or overload.body.notice
        notice = found.text if found else ""
        doc = overload.body.function.operator.doc.strip()
        for parameters, result in signatures_of(overload, callable_.is_method):
            lines.setdefault(parameters, (result, doc, notice))

    return [
        Stub(callable_.name, parameters, result, len(lines) > 1, doc, notice)
        for parameters, (result, doc, notice) in lines.items()
    ]


def _results(overload: Overload) -> str:
    if overload.body.return_type:
        return overload.body.return_type
    returns: Sequence[Return] = overload.body.function.schema.returns
    if not returns:
        return "Sequence[Tensor]" if overload.body.returns_list else "None"
    texts = [_result(r.type) for r in returns]
    return texts[0] if len(texts) == 1 else f"tuple[{', '.join(texts)}]"


def _result(type_: Type) -> str:
    name = _RESULTS[type_.base.name]
    return f"tuple[{name}, ...]" if type_.is_list else name


@remembered_by
def _listed(parameters: Parameters, self_slot: int, is_method: bool, varargs: bool) -> str:
    """The parameter list; ``varargs``: with ``*size`` for a list of ints that may be several arguments."""
    parts = ["self"] if is_method else []
    starred = False
    for position, parameter in enumerate(parameters):
        if position == self_slot:
            continue

        if varargs and "kVarargs" in parameter.flags:
            parts.append(f"*{parameter.name}: _int")
            starred = True
            continue

        if (parameter.is_keyword_only or _follows_default(parameters, self_slot, position)) and not starred:
            parts.append("*")
            starred = True
        parts.append(_parameter(parameter))

    return ", ".join(parts)


def _follows_default(parameters: Parameters, self_slot: int, position: int) -> bool:
    """Whether a required parameter comes after one with a default, which Python allows for keywords only."""
    before = [p for i, p in enumerate(parameters[:position]) if i != self_slot]
    return parameters[position].is_required and any(not p.is_required for p in before)


def _parameter(parameter: Parameter) -> str:
    name = f"{parameter.name}_" if parameter.name in PYTHON_KEYWORDS else parameter.name
    default = python_default(parameter)
    return f"{name}: {type_text(parameter)}" + ("" if default is None else f" = {default}")


def type_text(parameter: Parameter) -> str:
    """The type as stubs spell it."""
    type_ = _TYPES.get(parameter.kind, "")
    if parameter.kind == "IntList":
        type_ = "Sequence[_int] | _int" if parameter.list_size else "Sequence[_int]"
    if parameter.kind == "TensorList" and "kOutput" in parameter.flags:
        type_ = "tuple[Tensor, ...]"
    if "kNullable" in parameter.flags:
        type_ += " | None"
    return type_


def python_default(parameter: Parameter) -> str | None:
    """The default as Python writes it; None for a required parameter."""
    if parameter.is_required:
        return None

    argument = parameter.argument
    if argument is None:
        return "False" if parameter.kind == "Bool" else "None"

    value = argument.default_value
    if isinstance(value, Symbol):
        return _REDUCTIONS.get(value.name) or f"torch.{value.name}"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)
