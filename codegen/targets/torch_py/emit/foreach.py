"""Bodies of list operators (``_foreach_*``): checks of lengths, then a call for each tensor."""

from __future__ import annotations

from typing import NamedTuple

from codegen.model import EachArgument, Operator
from codegen.output.literals import cpp_string
from codegen.schema import Argument
from codegen.targets.torch_py import cpp
from codegen.targets.torch_py.analysis.functions import Function, functions_of

# Declares the functions that the bodies call.
HEADER = "aten/dispatch/Foreach.h"


class Body(NamedTuple):
    """The lines of a list operator."""

    lists: tuple[str, ...]  # as NamedLength
    prologue: tuple[str, ...]
    calls: str


def body_of(operator: Operator) -> Body:
    each = operator.each
    assert each is not None
    given = operator.schema.arguments.flat_all
    first = next(a.name for a in given if str(a.type) == "Tensor[]")
    name = cpp_string(operator.base_name)
    lists = tuple(f'{{"{a.spelling}", {a.name}.size()}}' for a in given if a.type.is_list)

    # What the calls of all tensors share, then the arguments of each call.
    prologue: tuple[str, ...] = (f"check_leaves({first});",) if operator.schema.is_inplace else ()
    prologue += _without_autocast(each.operator)
    prologue += tuple(line for e in each.arguments for line in _made_once(e, given, name, first))
    values = tuple(
        _value(e, c, given) for e, c in zip(each.arguments, each.operator.schema.arguments.flat_all)
    )
    tensors = tuple(
        v for v, c in zip(values, each.operator.schema.arguments.flat_all) if c.type.is_tensor_like
    )
    return Body(lists, prologue, _calls(operator, first, name, values, tensors))


def _without_autocast(called: Operator) -> tuple[str, ...]:
    """PyTorch converts none of the arguments of list operators on CUDA."""
    if called.autocast.cuda == "none":
        return ()
    return ("const c10::ExcludeDispatchKeyGuard as_given(DispatchKey::AutocastCUDA);",)


def _calls(
    operator: Operator, first: str, name: str, values: tuple[str, ...], tensors: tuple[str, ...]
) -> str:
    """The statement that calls the other operator for each tensor of the list ``first``.

    ``tensors`` are those of ``values`` that are tensors.
    """
    assert operator.each is not None
    is_inplace = operator.schema.is_inplace
    function = _form_of(operator.each.operator, "inplace" if is_inplace else "function")
    call = f"at::ops::{function.struct}::call"
    if not is_inplace:
        each = f"[&](size_t i) {{ return {call}({', '.join(values)}); }}"
        return f"return results_of_each({first}.size(), {each});"

    loop = f"for (size_t i = 0; i < {first}.size(); ++i)"
    if function.form == "inplace":
        return f"{loop} {call}({', '.join(values)});"

    # Without an in-place form the result is copied; the gradient may need self as it was.
    # That of the others may, too.
    own = f"{first}[i]"
    others = ", ".join(v for v in tensors if v != own)
    before = f"value_before({own}, {{{others}}})" if others else f"value_before({own})"
    kept = [before if v == own else v for v in values]
    return f"{loop} copy_to_self({name}, {first}[i], {call}({', '.join(kept)}));"


def _form_of(operator: Operator, form: str) -> Function:
    """The function of this form, or the declared one if the operator lacks it."""
    found = functions_of(operator)
    return next((f for f in found if f.form == form), found[0])


def _made_once(each: EachArgument, given: tuple[Argument, ...], name: str, first: str) -> tuple[str, ...]:
    """Statements before the loop for one argument of the calls."""
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
    """One argument of the call for tensor ``i``."""
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
