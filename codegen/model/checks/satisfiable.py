"""Checks that arguments can satisfy the conditions of ``requires:``, the defaults of the arguments first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from codegen.dtypes import DTYPES
from codegen.expressions import Node, names, nodes
from codegen.expressions.evaluate import NoValueError, evaluate
from codegen.expressions.scope import RequirementScope
from codegen.expressions.simplify import number_of
from codegen.model.checks.report import Reporter
from codegen.model.checks.tensor_conditions import Arguments, can_hold
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
# Kinds whose values equal themselves: floating-point numbers may be nan.
_EQUAL_TO_THEMSELVES = ("int", "bool", "ScalarType", "Device", "int[]")


def check(operator: Operator, context: Context) -> None:
    report = Reporter(operator, context)
    for requirement in operator.requires:
        if requirement.check.node is not None and requirement.name is None:
            _check_condition(operator, requirement, report, context)


def _check_condition(
    operator: Operator, requirement: Requirement, report: Reporter, context: Context
) -> None:
    if not names(requirement.check.node):
        what = "the condition names no argument: it holds for all calls or for none"
        report.at(requirement.check.location, what, "write a condition on an argument, or remove it")
        return
    sure = _sure_part(requirement.check.node, operator)
    if sure is not None:
        part, what = sure
        report.at_offset(requirement.check.location, part.offset, what, "write a condition that can be false")
        return

    found = [operator.arguments.find(name) for name in sorted(names(requirement.check.node))]
    arguments = [argument for argument in found if argument is not None]
    place = requirement.check.location
    if not all(map(_is_number, arguments)):
        if not _can_hold(operator, requirement, arguments, context):
            what = "no tensor that the operator takes satisfies this"
            report.at(place, what, "write a condition that can be true")
        return

    defaults = {a.name: a.default_value for a in arguments if a.has_default}
    if len(defaults) == len(arguments) and _holds(requirement, defaults) is False:  # type: ignore[arg-type]
        shown = ", ".join(f"{name}={value}" for name, value in defaults.items())
        report.at(place, f"the entry's own default {shown} does not satisfy this", "change one of the two")
    elif any(_holds(requirement, values) is not False for values in _tries(arguments)):
        return
    elif not _can_hold(operator, requirement, arguments, context):
        report.at(place, "no number satisfies this", "write a condition that can be true")


def _can_hold(
    operator: Operator, requirement: Requirement, arguments: list[Argument], context: Context
) -> bool:
    if not all(argument.type.is_plain("Tensor") or _is_number(argument) for argument in arguments):
        return True

    def of(*kinds: str) -> list[str]:
        return [a.name for a in arguments if any(map(a.type.is_plain, kinds))]

    asked = Arguments(of("Tensor"), of("int", "SymInt"), of("float", "Scalar"), of("bool"))
    sets = {name: dtypes.members for name, dtypes in context.dtype_sets.items()}
    dtypes = _accepted_dtypes(operator) if operator.structure == "pointwise" else DTYPES
    return can_hold(requirement.check.node, asked, sets, dtypes)


def _accepted_dtypes(operator: Operator) -> tuple[str, ...]:
    """Those that promotion can lead from to the dtypes of the loops."""
    highest = max(map(_kind_of, operator.dtypes), default=2)
    return tuple(dtype for dtype in DTYPES if _kind_of(dtype) <= highest)


def _kind_of(dtype: str) -> int:
    return 2 if dtype.startswith("complex") else 1 if "float" in dtype else 0


def _sure_part(node: Node, operator: Operator) -> tuple[Node, str] | None:
    """A part that is true whatever the arguments are, and why."""
    scope = RequirementScope(operator)
    for part in nodes.walk(node):
        source = nodes.to_source(part)
        if isinstance(part, nodes.Compare) and len(part.operands) == 2:
            left, right = part.operands
            is_same = left == right and scope.kind(left) in _EQUAL_TO_THEMSELVES
            if is_same and part.operators[0] in ("==", "<=", ">="):
                return part, f"'{source}' is always true"

            if part.operators[0] == ">=" and _is_count(left) and number_of(right) == 0:
                return part, f"'{source}' is always true"

        elif isinstance(part, nodes.Call) and part.function == "defined" and len(part.arguments) == 1:
            (argument,) = part.arguments
            found = operator.arguments.find(argument.name) if isinstance(argument, nodes.Name) else None
            if found is not None and not found.type.is_optional:
                return part, f"'{found.name}' is never missing: it is {found}"
    return None


def _is_count(node: Node) -> bool:
    return isinstance(node, nodes.Call) and node.function in ("dim", "size", "numel", "len")


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
