"""Decides whether one schema accepts every call written for another: by wider types, more defaults, or
further arguments with defaults."""

from __future__ import annotations

from codegen.schema import Argument, FunctionSchema, Symbol
from codegen.schema.types import ListType, OptionalType, Type


def covers(ours: FunctionSchema, theirs: FunctionSchema) -> bool:
    """Whether ``ours`` accepts every call of ``theirs`` and returns the same.

    ``out=`` is one keyword in Python, so the names of its tensors do not count.
    """
    own = ours.arguments
    wanted = theirs.arguments
    if len(wanted.positional) > len(own.positional) or len(own.out) != len(wanted.out):
        return False

    pairs = list(zip(wanted.positional, own.positional))
    if any(their.name != our.name for their, our in pairs):
        return False

    rest = {argument.name: argument for argument in (*own.positional[len(pairs) :], *own.kwarg_only)}
    for argument in wanted.kwarg_only:
        if argument.name not in rest:
            return False
        pairs.append((argument, rest.pop(argument.name)))

    if any(not argument.has_default for argument in rest.values()):
        return False

    return all(takes(our, their) for their, our in pairs) and _results(ours) == _results(theirs)


def takes(our: Argument, their: Argument) -> bool:
    """Whether ``ours`` accepts every value of ``theirs``, and its absence with the same meaning."""
    if their.has_default and default_of(our) != default_of(their):
        return False
    return _is_wider(our.type, their.type)


def _is_wider(our: Type, their: Type) -> bool:
    if isinstance(their, OptionalType):
        return isinstance(our, OptionalType) and _is_wider(our.element, their.element)
    inner = our.element if isinstance(our, OptionalType) else our
    if type_text(inner) == type_text(their):
        return True
    if not isinstance(inner, ListType) or inner.size is None:
        return False  # a sized list accepts one element, and lists of any size
    element = their.element if isinstance(their, ListType) else their
    return type_text(inner.element) == type_text(element)


def _results(schema: FunctionSchema) -> list[str]:
    return [str(result.type).replace("SymInt", "int") for result in schema.returns]


def type_text(type: Type) -> str:
    return str(type).replace("SymInt", "int").replace("SymBool", "bool")


def default_of(argument: Argument) -> object:
    """``Mean`` is 1; 0.0 and 0 are one."""
    if argument.default is None:
        return "none at all"
    value = argument.default_value
    return {"Mean": 1, "Sum": 2}.get(value.name, value) if isinstance(value, Symbol) else value
