"""Checks of the macros that choose a C++ type: they exist, and their errors name the right operator."""

from __future__ import annotations

import re

from codegen.diagnostics import Diagnostics, did_you_mean
from codegen.dialect import PRIVATE
from codegen.model.kernels import DispatchCall, KernelIndex
from codegen.model.program import Program, combination_macro
from codegen.model.reading import Context

# Of aten/dispatch/Dtypes.h, which generated macros consist of.
_WRITTEN_BY_HAND = ("AT_DISPATCH_SWITCH", "AT_DISPATCH_CASE")
_SUFFIX = re.compile(r"(?:_impl|_kernel|_cpu|_cuda)+_?$")


def check_dispatch_calls(program: Program, context: Context) -> None:
    """Looks at all calls, in kernels that entries name and in what these call."""
    check_macros(context.kernels, program, context.problems)
    owners = _owners(program)
    for call in context.kernels.dispatch_calls:
        _check_name(call, owners, program, context)


def check_macros(kernels: KernelIndex, program: Program, problems: Diagnostics) -> None:
    """Reports macros of kernel files that no set of dtypes of the program has."""
    known = _macros(program)
    has_sets = bool(program.all_dtype_sets())  # otherwise entries tell that they are missing
    for call in kernels.dispatch_calls:
        if has_sets and call.macro not in known:
            what = f"no set of dtypes has the macro {call.macro}"
            hint = did_you_mean(call.macro, known)
            problems.report(call.location, call.symbol or call.macro, what, hint)


def _macros(program: Program) -> set[str]:
    found = {*_WRITTEN_BY_HAND, *(s.macro for s in program.all_dtype_sets().values())}
    extended: Program | None = program
    while extended is not None:
        found.update(combination_macro(operator.dtype_sets) for operator in extended if operator.dtype_sets)
        extended = extended.base
    return found


def _owners(program: Program) -> dict[str, set[str]]:
    """The operators of each kernel, without their overloads.

    Private operators do a part of what programs have called, so that another name may be right.
    """
    found: dict[str, set[str]] = {}
    for operator in program:
        for entry in operator.dispatch if operator.python_module != PRIVATE else ():
            found.setdefault(entry.kernel, set()).add(operator.base_name)
    return found


def _check_name(call: DispatchCall, owners: dict[str, set[str]], program: Program, context: Context) -> None:
    """The error of a dtype without code names the operator: 'add_cpu' not implemented for 'Bool'.

    Other words, such as the function that does the work for several operators, may be right.
    """
    own = owners.get(call.symbol or "")
    if call.name is None or own is None:
        return

    named = call.name if program.by_base_name(call.name) else _SUFFIX.sub("", call.name)
    is_another = bool(program.by_base_name(named)) and not any(named in name or name in named for name in own)
    if is_another:
        context.problems.report(
            call.name_location,
            call.symbol or call.macro,
            f"the error of a dtype without code would name another operator, '{named}'",
            f'write "{min(own)}"',
        )
