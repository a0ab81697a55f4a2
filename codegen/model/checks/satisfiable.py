"""Checks that numbers can satisfy the conditions of ``requires:``, the defaults of the arguments first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from codegen.expressions import names
from codegen.expressions.evaluate import NoValueError, evaluate
from codegen.model.checks.report import Reporter
from codegen.model.operator import Operator, Requirement
from codegen.model.reading import Context
from codegen.schema import Argument

# What numbers are tried as, in each kind of argument.
_TRIED: dict[str, tuple[float, ...]] = {
    "int": (0, 1, 2, 3, -1, -2, 5, 10, 64, 1000),
    "SymInt": (0, 1, 2, 3, -1, -2, 5, 10, 64, 1000),
    "float": (0.0, 1.0, 0.5, 2.0, -1.0, 0.1, 10.0, 1e-5, 100.0),
    "Scalar": (0.0, 1.0, 0.5, 2.0, -1.0, 3, 10),
    "bool": (False, True),
}
_MOST_TRIES = 20_000


def check(operator: Operator, context: Context) -> None:
    report = Reporter(operator, context)
    for requirement in operator.requires:
        if requirement.check.node is not None and requirement.name is None:
            _check_condition(operator, requirement, report)


def _check_condition(operator: Operator, requirement: Requirement, report: Reporter) -> None:
    """Conditions on numbers alone; what they say about tensors depends on the call."""
    if not names(requirement.check.node):
        what = "the condition names no argument: it holds for all calls or for none"
        report.at(requirement.check.location, what, "write a condition on an argument, or remove it")
        return
    found = [operator.arguments.find(name) for name in sorted(names(requirement.check.node))]
    arguments = [argument for argument in found if argument is not None]
    if not arguments or not all(map(_is_number, arguments)):
        return

    place = requirement.check.location
    defaults = {a.name: a.default_value for a in arguments if a.has_default}
    if len(defaults) == len(arguments) and _holds(requirement, defaults) is False:  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={value}" for name, value in defaults.items())
        report.at(place, f"the entry's own default {shown} does not satisfy this", "change one of the two")
    elif not any(_holds(requirement, values) is not False for values in _tries(arguments)):
        report.at(place, "no number satisfies this", "write a condition that can be true")


def _is_number(argument: Argument) -> bool:
    return any(argument.type.is_plain(kind) for kind in _TRIED)


def _tries(arguments: list[Argument]) -> Iterator[Mapping[str, float]]:
    ranges = [next(v for kind, v in _TRIED.items() if a.type.is_plain(kind)) for a in arguments]
    for values in islice(product(*ranges), _MOST_TRIES):
        yield {a.name: value for a, value in zip(arguments, values)}


def _holds(requirement: Requirement, values: Mapping[str, float]) -> bool | None:
    """Whether the values satisfy the condition; None if that cannot be told."""
    try:
        return bool(evaluate(requirement.check.node, values))
    except (NoValueError, TypeError):
        return None
