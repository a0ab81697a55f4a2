"""Checks that entries, generated variants and aliases have distinct names."""

from __future__ import annotations

from codegen.model.checks.report import Reporter
from codegen.model.former_names import formerly
from codegen.model.operator import Operator
from codegen.model.program import Program
from codegen.model.reading import Context


def check(operators: list[Operator], base: Program | None, context: Context) -> None:
    taken: dict[str, tuple[Operator, str]] = {}
    for operator in base or ():
        _take(operator, taken, None)
    for operator in operators:
        _take(operator, taken, context)
    owners = _check_aliases(operators, base, context)
    _check_former_names(operators, taken, owners, context)
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


def _check_former_names(
    operators: list[Operator],
    taken: dict[str, tuple[Operator, str]],
    owners: dict[tuple[str, str], str],
    context: Context,
) -> None:
    """A former name may not be the name of another operator, nor of what the package has without an entry."""
    for operator in operators:
        for rename, former in formerly(operator):
            message = None
            for name, _ in forms(former):
                first, _ = taken.setdefault(name, (operator, "former"))
                if first is not operator:
                    message = message or f"'{rename.name}' is a name of {first.name} in {first.location}"

            place = (former.python_module, former.python_name)
            owner = owners.setdefault(place, operator.base_name)
            if owner != operator.base_name:
                message = message or f"'{former.python_name}' is a name of {owner} in Python"
            elif former.base_name != operator.base_name:
                message = message or _taken(former, former.python_name, context)
            if message is not None:
                Reporter(operator, context).at(rename.location, message, "remove one of them")


def _check_aliases(
    operators: list[Operator], base: Program | None, context: Context
) -> dict[tuple[str, str], str]:
    """An alias may be shared by overloads of one name, but not with another operator. Returns the operator of
    each name in Python, (module, name)."""
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

            elif name.endswith("_") and not operator.schema.is_mutable:
                what = (
                    f"alias '{alias}' reads as an operator in place, but '{operator.name}' writes to nothing"
                )
                hint = "remove '_': the forms in place have aliases of their own"
                Reporter(operator, context).at_word("aliases", alias, what, hint)

            owner = owners.setdefault((place or operator.python_module, name), operator.base_name)
            if owner != operator.base_name:
                Reporter(operator, context).at_word(
                    "aliases", alias, f"alias '{alias}' is a name of {owner} already", "remove one of them"
                )
    return owners


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
    names = [operator.python_name, *(alias for alias in operator.aliases if "." not in alias)]
    for name in names:
        is_alias = name != operator.python_name
        for is_method in (True, False):
            message = _taken(operator, name, context, is_method)
            if message is not None:
                key = "aliases" if is_alias else "variants" if is_method else "func"
                report.at_key(key, message, "choose another name")


def _taken(operator: Operator, name: str, context: Context, is_method: bool | None = None) -> str | None:
    """What the package has under ``name`` as a method or a function of ``operator``, by default as either."""
    taken = context.taken
    if is_method is not False and operator.is_method and name in taken.methods:
        return f"'{name}' is {taken.methods[name]} already"
    is_main = operator.is_function and operator.python_module == context.dialect.modules[0]
    if is_method is not True and is_main and name in taken.functions:
        return f"'{name}' is {taken.functions[name]} already"
    return None


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
