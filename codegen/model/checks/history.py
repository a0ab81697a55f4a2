"""Checks that versions come in order, and that what replaces a deprecated operator exists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from codegen.diagnostics import Location, did_you_mean
from codegen.dialect import Dialect
from codegen.model.checks.report import Reporter
from codegen.model.history import is_later
from codegen.model.operator import Operator
from codegen.model.program import Program
from codegen.model.reading import Context
from codegen.schema.names import BaseName


def check(operators: list[Operator], base: Program | None, context: Context) -> None:
    for operator in operators:
        _check_renames(operator, context)

    deprecated = [operator for operator in operators if operator.deprecated is not None]
    if not deprecated:
        return

    operators_known = (*(base or ()), *operators)
    known = {name: o for o in operators_known for name in public_names(o, context.dialect)}
    for operator in deprecated:
        _check_deprecation(operator, known, context)


def public_names(operator: Operator, dialect: Dialect) -> Iterator[str]:
    """What programs call the operator: ``torch.clamp``, ``torch.Tensor.clamp``, and so for its aliases."""
    place = operator.public_name.rpartition(".")[0]
    for alias in (operator.python_name, *operator.aliases):
        module, _, name = alias.rpartition(".")
        if module:
            yield f"{dialect.place_of(module)}.{name}"
            continue
        if operator.is_function:
            yield f"{place}.{name}"
        if operator.is_method:
            yield f"{dialect.method_place}.{name}"


def _check_deprecation(operator: Operator, known: dict[str, Operator], context: Context) -> None:
    report = Reporter(operator, context)
    deprecated = operator.deprecated
    assert deprecated is not None
    check_order(operator, deprecated.since, deprecated.since_location, report)

    use = deprecated.use
    if use in known:
        found = known[use]
        if found.base_name == operator.base_name:
            report.at(deprecated.location, f"{use} is the operator itself", "name what replaces it")
        elif found.deprecated is not None:
            hint = f"write use: {found.deprecated.use}"
            report.at(deprecated.location, f"{use} is deprecated as well", hint)
    elif not _is_in_python(use, context):
        hint = did_you_mean(use, _near(use, known))
        report.at(deprecated.location, f"programs have no '{use}'", hint)


def _check_renames(operator: Operator, context: Context) -> None:
    """Whether others have the former names is in checks/names."""
    report = Reporter(operator, context)
    for rename in operator.renamed:
        check_order(operator, rename.since, rename.since_location, report)
        base = BaseName.of(rename.name.partition(".")[0])
        own = operator.schema.name.name
        if rename.name == operator.name:
            report.at(rename.location, f"'{rename.name}' is the present name", "write the former one")
        elif base.inplace != own.inplace:
            hint = "write it without the '_'" if base.inplace else f"write from: {base}_"
            message = f"'{rename.name}' is not the name of what {operator.name} does, which '_' tells"
            report.at(rename.location, message, hint)


def check_order(operator: Operator, version: str, location: Location, report: Reporter) -> None:
    """Nothing happens to an operator before it appears."""
    since = operator.since
    if since is not None and is_later(since, version):
        report.at(location, f"{version} comes before the entry, which is there since {since}", "change one")


def _is_in_python(use: str, context: Context) -> bool:
    """Whether a function of torch that is written by hand has this name."""
    return use.startswith("torch.") and use.removeprefix("torch.") in context.taken.functions


def _near(use: str, known: Iterable[str]) -> list[str]:
    """The names of the same module, if there is one; comparing with all of them would take long."""
    place = use.rpartition(".")[0]
    return [name for name in known if name.rpartition(".")[0] == place] or ["torch.NAME", "torch.Tensor.NAME"]
