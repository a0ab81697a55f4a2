"""Checks that every entry has the kernels that its structure needs, and that they are defined."""

from __future__ import annotations

from collections.abc import Sequence

from codegen.diagnostics import Location
from codegen.model import vocabulary
from codegen.model.checks.report import Reporter
from codegen.model.cpp import kernel_signature
from codegen.model.kernels import Kernel, types_of
from codegen.model.operator import DispatchEntry, Operator
from codegen.model.reading import Context
from codegen.model.rooms import check_room, kernel_file, loop_file


def check(operator: Operator, context: Context, has_structure: bool) -> None:
    report = Reporter(operator, context)
    if has_structure and operator.each is None:
        _check_keys(operator, report)
        for entry in operator.dispatch:
            _check_definition(operator, entry, report)


def _check_keys(operator: Operator, report: Reporter) -> None:
    """Each dispatch key is one that the structure can have."""
    keys = [d.key for d in operator.dispatch]
    one_for_all = operator.structure in vocabulary.ALL_STRUCTURES

    for entry in operator.dispatch:
        if entry.key == vocabulary.INPLACE_KEY:
            if operator.structure != "composite" or not operator.has_inplace:
                report.at(
                    entry.location,
                    "'Inplace' is for a composite that has the variant inplace",
                    f"remove Inplace: {entry.kernel}",
                )
            continue

        # Composed while a graph is recorded; a device's own kernel runs otherwise.
        if operator.is_composite_implicit and "All" in keys:
            continue

        if one_for_all and entry.key != "All":
            report.at(
                entry.location,
                f"a {operator.structure} has one function for every device, not one for {entry.key}",
                f"write All: {entry.kernel}",
            )

        if entry.key == "All" and operator.structure in ("pointwise", "reduction"):
            report.at(
                entry.location,
                f"a {operator.structure} kernel is a loop on one device",
                f"write CPU: {entry.kernel}",
            )
        elif entry.key == "All" and len(keys) > 1 and not one_for_all:
            report.at(entry.location, "'All' is written with other dispatch keys", "remove one or the other")


def _check_definition(operator: Operator, entry: DispatchEntry, report: Reporter) -> None:
    """The kernel is defined in the right file, with the right parameters, and other files can call it."""
    signature = kernel_signature(operator, entry.kernel, entry.key)
    wanted_file = kernel_file(operator, entry.key)
    wanted = f"{signature} in {wanted_file}"
    what = f"the {entry.key} kernel '{entry.kernel}'"
    found = entry.definition

    if found is None:
        near = report.context.kernels.near(entry.kernel)
        if entry.is_implied and operator.structure == "pointwise":
            wanted += ", or expr: and a formula"
        report.at(
            entry.location,
            f"{what} is defined nowhere",
            f"did you mean {near}? or write {wanted}" if near else f"write {wanted}",
        )
    elif found.is_local:
        report.at(
            entry.location,
            f"{what} is local to its file",
            f"move it out of the unnamed namespace, or remove static: {found.path}:{found.line}",
        )
    else:
        overloads = report.context.kernels.all_of(entry.kernel)
        check_types(report, entry.location, what, signature, overloads)

        is_loop = found.path.startswith("aten/native/cpu/")
        belongs = loop_file(operator, found.is_per_isa) if is_loop else wanted_file
        check_place(report, signature, overloads, belongs)


def check_place(report: Reporter, signature: str, found: Sequence[Kernel], belongs: str) -> None:
    """A definition that may have the types of ``signature`` is in a file of the operator's topic."""
    fitting = [kernel for kernel in found if kernel.types in (None, types_of(signature))]
    for problem in check_room(report.operator, fitting, belongs):
        report.at(*problem)


def check_types(
    report: Reporter, location: Location, what: str, signature: str, found: Sequence[Kernel]
) -> None:
    """One definition has the types of ``signature``; the compiler checks those that macros write."""
    if any(kernel.signature == signature for kernel in found):
        return

    wanted = types_of(signature)
    if found and all(kernel.types not in (None, wanted) for kernel in found):
        first = found[0]
        report.at(
            location,
            f"{what} has other parameters: {first.signature} at {first.path}:{first.line}",
            f"write {signature}",
        )
