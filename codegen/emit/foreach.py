"""Bodies of list operators: the checks of lengths, what is made once, and the call for each tensor."""

from __future__ import annotations

from dataclasses import dataclass

from codegen.analysis.functions import Function, functions_of
from codegen.emit.layout import cpp_string
from codegen.model import EachArgument, Operator, cpp
from codegen.schema import Argument

# Declares what the bodies are made of.
HEADER = "aten/dispatch/Foreach.h"
_COPY = "copy_to_self"


@dataclass(frozen=True)
class Body:
    """``head`` ends with the parenthesis that ``arguments`` of the call follow; ``tail`` closes what ``head``
    opened."""

    lists: tuple[str, ...]
    prologue: tuple[str, ...]
    head: str
    arguments: tuple[str, ...]
    tail: str


def body_of(operator: Operator) -> Body:
    each = operator.each
    assert each is not None
    given = operator.schema.arguments.flat_all
    first = next(a.name for a in given if str(a.type) == "Tensor[]")
    name = cpp_string(operator.base_name)
    lists = tuple(f'{{"{a.spelling}", {a.name}.size()}}' for a in given if a.type.is_list)
    prologue = tuple(line for e in each.arguments for line in _made_once(e, given, name, first))
    values = tuple(
        _value(e, c, given) for e, c in zip(each.arguments, each.operator.schema.arguments.flat_all)
    )
    head, tail = _frame(operator, first, name)
    if _COPY in head:  # the gradient may need self as it was
        values = tuple(f"value_before({v})" if v == f"{first}[i]" else v for v in values)
    return Body(lists, prologue, head, values, tail)


def _frame(operator: Operator, first: str, name: str) -> tuple[str, str]:
    assert operator.each is not None
    called, is_inplace = operator.each.operator, operator.schema.is_inplace
    function = _called(called, "inplace" if is_inplace else "function")
    call = f"at::ops::{function.struct}::call("
    if not is_inplace:
        return f"  return results_of_each({first}.size(), [&](size_t i) {{ return {call}", "); });"
    loop = f"  for (size_t i = 0; i < {first}.size(); ++i) "
    if function.form == "inplace":
        return loop + call, ");"
    return f"{loop}{_COPY}({name}, {first}[i], {call}", "));"


def _called(operator: Operator, form: str) -> Function:
    """The form that is asked for where there is one, else the declared one."""
    found = functions_of(operator)
    return next((f for f in found if f.form == form), found[0])


def _made_once(each: EachArgument, given: tuple[Argument, ...], name: str, first: str) -> tuple[str, ...]:
    argument = given[each.source]
    own = argument.name
    if each.kind == "single":
        return (f'check_single_number({name}, "{argument.spelling}", {own});',)
    if each.kind == "number":
        return (f"const Tensor {own}_number = wrapped_scalar({own});",)
    if each.kind == "packed":
        return (
            f'const std::vector<Scalar> {own}_number = packed_numbers({name}, "{argument.spelling}", {own}, '
            f"{first}.size());",
        )
    return ()


def _value(each: EachArgument, called: Argument, given: tuple[Argument, ...]) -> str:
    if each.kind == "default":
        return cpp.default_argument(called).removeprefix(" = ")
    own = given[each.source].name
    texts = {
        "each": f"{own}[i]",
        "numbers": f"wrapped_scalar({own}[i])",
        "number": f"{own}_number",
        "packed": f"{own}_number[i]",
    }
    return texts.get(each.kind, own)
