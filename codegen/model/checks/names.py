"""Checks that entries, generated variants and aliases have distinct names."""

from __future__ import annotations

from codegen.model.checks.report import Reporter
from codegen.model.operator import Operator
from codegen.model.program import Program
from codegen.model.reading import Context


def check(operators: list[Operator], base: Program | None, context: Context) -> None:
    taken: dict[str, tuple[Operator, str]] = {}
    for operator in base or ():
        _take(operator, taken, None)
    for operator in operators:
        _take(operator, taken, context)
    _check_aliases(operators, base, context)
    _check_python_signatures(operators, base, context)
    for operator in operators:
        _check_taken(operator, context)


def _take(operator: Operator, taken: dict[str, tuple[Operator, str]], context: Context | None) -> None:
    """Reserves the C++ names of an operator, both declared and generated, and reports those taken already."""
    for name, form in forms(operator):
        first = taken.setdefault(name, (operator, form))
        if first[0] is operator or context is None:
            continue

        where = f"line {first[0].location.line}"
        if first[0].location.file != operator.location.file:
            where = str(first[0].location)
        described = "declared" if first[1] == "declared" else f"the {first[1]} variant of {first[0].name}"

        if form == "declared":
            which = "another" if operator.schema.overload_name else "an"
            message = f"'{name}' is {described} already, in {where}"
            hint = f"remove this entry, or give it {which} overload name"
        else:
            message = f"its {form} variant '{name}' is {described} already, in {where}"
            hint = f"remove {form} from variants, or the other entry"

        context.problems.report(operator.location, operator.name, message, hint)


def _check_aliases(operators: list[Operator], base: Program | None, context: Context) -> None:
    """An alias may be shared by overloads of one name, but not with another operator."""
    owners = {
        (o.python_module, o.python_name): o.base_name for o in (*(base or ()), *operators) if o.is_function
    }

    for operator in operators:
        _check_module(operator, context)
        for alias in operator.aliases:
            place, _, name = alias.rpartition(".")
            if (place or operator.python_module, name) == (operator.python_module, operator.python_name):
                report = Reporter(operator, context)
                report.at_word("aliases", alias, f"alias '{alias}' is the operator's own name", "remove it")

            owner = owners.setdefault((place or operator.python_module, name), operator.base_name)
            if owner != operator.base_name:
                Reporter(operator, context).at_word(
                    "aliases", alias, f"alias '{alias}' is a name of {owner} already", "remove one of them"
                )


def _check_python_signatures(operators: list[Operator], base: Program | None, context: Context) -> None:
    """Of two overloads with the same arguments, Python could call one alone."""
    first: dict[tuple[object, ...], Operator] = {}
    for operator in (*(base or ()), *operators):
        if operator.python_module == "private" or operator.each is not None:
            continue

        arguments = operator.arguments
        types = [
            (a.name, str(a.type).replace("SymInt", "int"), a.has_default, a in arguments.kwarg_only)
            for a in arguments.flat_non_out
        ]

        earlier = first.setdefault((operator.python_module, operator.python_name, *types), operator)
        is_other = earlier.unambiguous_name != operator.unambiguous_name  # else it is reported already
        if is_other and operator in operators:
            report = Reporter(operator, context)
            where = f"{earlier.name} in line {earlier.location.line}"
            report.at_schema(0, f"Python cannot tell this overload from {where}", "give it other arguments")


def _check_taken(operator: Operator, context: Context) -> None:
    """An operator may not hide, or be hidden by, what the package has under its name."""
    report = Reporter(operator, context)
    is_main = operator.python_module == context.dialect.modules[0]
    methods, functions = context.taken.methods, context.taken.functions
    names = {operator.python_name: "variants"}
    names.update({alias: "aliases" for alias in operator.aliases if "." not in alias})
    for name, key in names.items():
        if operator.is_method and name in methods:
            report.at_key(key, f"'{name}' is {methods[name]} already", "choose another name")
        if operator.is_function and is_main and name in functions:
            report.at_key("func", f"'{name}' is {functions[name]} already", "choose another name")


def _check_module(operator: Operator, context: Context) -> None:
    """Operators of ``torch.linalg``, and only these, are called ``linalg_NAME``."""
    prefix, _, rest = operator.base_name.partition("_")
    module = operator.python_module
    prefixed = context.dialect.prefixed_modules

    if operator.library is not None:
        return

    if module in prefixed and prefix != module:
        Reporter(operator, context).at_key(
            "python_module",
            f"'{operator.base_name}' is declared in {module}",
            f"write {module}_{operator.base_name} as its name",
        )

    elif rest and prefix in prefixed and prefix != module:
        Reporter(operator, context).at_key(
            "func",
            f"'{operator.base_name}' has the name of an operator of {prefix}",
            "leave python_module out: it follows from the name",
        )


def forms(operator: Operator) -> list[tuple[str, str]]:
    """(unambiguous name, what it is) of everything generated for an operator."""
    found = [(operator.unambiguous_name, "declared")]
    own = operator.arguments.self_argument
    if operator.has_inplace and own is not None:
        found.append((operator.inplace_schema().unambiguous_name, "inplace"))
    if operator.has_out:
        found.append((operator.out_schema().unambiguous_name, "out"))
    return found
