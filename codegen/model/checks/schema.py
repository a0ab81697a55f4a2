"""Checks names, defaults, alias annotations and variants of a schema."""

from __future__ import annotations

from codegen.model import vocabulary
from codegen.model.checks.report import Reporter
from codegen.model.keywords import PYTHON_KEYWORD_ARGUMENTS, PYTHON_KEYWORDS
from codegen.model.operator import Operator
from codegen.model.reading import Context
from codegen.schema import Argument, FunctionSchema, default_problem


def check(operator: Operator, context: Context, has_structure: bool) -> None:
    report = Reporter(operator, context)
    _check_names(operator, report)
    _check_defaults(operator, report)
    _check_out_arguments(operator, report)
    _check_alias_sets(operator, report)
    if has_structure:
        _check_views(operator, report)
        _check_writes(operator, report)
        _check_variants(operator, report)


def _check_names(operator: Operator, report: Reporter) -> None:
    """Reports keywords of Python and ambiguous names; C++ keywords are renamed instead."""
    name = operator.schema.name.name
    if name.base in PYTHON_KEYWORDS and not name.inplace and not name.dunder:
        report.at_schema(0, f"'{name.base}' is a keyword of Python", "choose another name")

    names = operator.arguments.names()
    for argument in operator.arguments:
        if argument.name in PYTHON_KEYWORDS and argument.name not in PYTHON_KEYWORD_ARGUMENTS:
            report.at_schema(
                argument.name_offset, f"'{argument.name}' is a keyword of Python", f"write {argument.name}_"
            )
        if argument.name == "input" and "self" in names:
            report.at_schema(
                argument.name_offset, "'input' is what Python calls 'self'", "give one of them another name"
            )

        if _is_plain_out(argument) and not operator.has_out and operator.python_module != "private":
            hint = "remove it and write variants: function, out"
            report.at_schema(
                argument.offset, "'out' is what Python calls the result that a call writes to", hint
            )

    _check_result_names(operator, report)


def _is_plain_out(argument: Argument) -> bool:
    return argument.name == "out" and argument.annotation is None and argument.type.is_tensor_like


def _check_result_names(operator: Operator, report: Reporter) -> None:
    returns = operator.schema.returns
    has_own_outs = operator.has_out and not operator.arguments.out
    seen: set[str] = set()

    for result in returns:
        if result.name is not None and result.name in seen:
            report.at_schema(
                result.offset, f"two results are called '{result.name}'", "give every result its own name"
            )
        is_taken = result.name is not None and operator.arguments.find(result.name) is not None
        if is_taken and not has_own_outs:
            what = f"a result is called '{result.name}', as an argument is"
            report.at_schema(result.offset, what, "give it another name")
        if result.name in PYTHON_KEYWORDS:
            report.at_schema(
                result.offset, f"'{result.name}' is a keyword of Python", f"write {result.name}_"
            )
        seen.add(result.name or "")

    if has_own_outs:
        for taken, result in zip(operator.out_names(), returns):
            argument = operator.arguments.find(taken)
            if argument is not None:
                report.at_schema(
                    argument.name_offset,
                    f"'{taken}' is what the out variant calls a result",
                    "rename the argument" + (", or the result" if result.name else ""),
                )


def _check_defaults(operator: Operator, report: Reporter) -> None:
    for argument in operator.arguments:
        if argument.default is None:
            continue
        expected = default_problem(argument.type, argument.default)
        if expected is not None:
            report.at_schema(
                argument.default_offset,
                f"{argument.default} is not a default for '{argument.type} {argument.name}'",
                expected,
            )


def _check_out_arguments(operator: Operator, report: Reporter) -> None:
    for argument in operator.arguments.out:
        report.at_schema(
            argument.offset,
            f"'{argument.name}' is an out argument, which is generated",
            "remove it from the schema and write variants: function, out",
        )


def _check_alias_sets(operator: Operator, report: Reporter) -> None:
    """Each aliased result aliases an argument, and the other way round."""
    arguments = [a for a in operator.arguments if a.annotation is not None]
    given = {s: a for a in arguments if a.annotation is not None for s in a.annotation.sets}
    returned: set[str] = set()
    for argument in arguments:
        for name in argument.annotation.sets if argument.annotation is not None else ():
            if given[name] is not argument:
                what = f"'{argument.name}' and '{given[name].name}' are both annotated with '{name}'"
                report.at_schema(given[name].offset, what, "write another letter: each has memory of its own")

    for result in operator.schema.returns:
        for name in result.annotation.sets if result.annotation is not None else ():
            returned.add(name)
            if name not in given:
                report.at_schema(
                    result.offset,
                    f"the result aliases '{name}', but no argument does",
                    f"annotate the argument that it aliases: Tensor({name}) self",
                )
            elif given[name].is_write != result.is_write:
                mark = "!" if given[name].is_write else ""
                report.at_schema(
                    result.offset,
                    f"'{given[name].name}' and the result disagree on writing to '{name}'",
                    f"write Tensor({name}{mark}) in both places",
                )

    for argument in arguments:
        assert argument.annotation is not None
        if not argument.is_write and not returned & {*argument.annotation.sets, *argument.annotation.after}:
            report.at_schema(
                argument.offset,
                f"no result aliases '{argument.name}'",
                f"write Tensor{argument.annotation} as the return, or {argument.type} {argument.name}",
            )


def _check_views(operator: Operator, report: Reporter) -> None:
    schema = operator.schema
    structure = operator.structure

    if structure == "view" and not schema.is_view:
        place = schema.returns[0].offset if schema.returns else 0
        report.at_schema(
            place, "a view returns an alias of its argument", "write Tensor(a) self and -> Tensor(a)"
        )

    if structure == "view" and schema.is_view and len(schema.returns) > 1:
        hint = "write -> Tensor(a)[], or structure: composite"
        report.at_schema(schema.returns[1].offset, "a view returns one tensor or a list", hint)

    if structure not in ("view", "composite") and schema.is_view:
        place = next(r.offset for r in schema.returns if r.is_alias and not r.is_write)
        report.at_schema(
            place,
            f"the result is an alias, but the structure is {structure}",
            "write structure: view, or remove '(a)'",
        )


def _check_writes(operator: Operator, report: Reporter) -> None:
    schema = operator.schema
    structure = operator.structure
    if schema.is_out:  # reported already
        return

    if structure == "mutation":
        _check_mutation(schema, report)
    _check_name_of_writing(schema, structure, report)

    for argument in schema.arguments.mutable:
        if structure not in vocabulary.WRITING_STRUCTURES:
            hint = f"write {argument.type} {argument.name}"
            if structure == "pointwise":
                hint += " and variants: inplace"
            report.at_schema(
                argument.offset,
                f"'{argument.name}' is written to, but the structure is {structure}",
                f"{hint}, or structure: mutation",
            )


def _check_mutation(schema: FunctionSchema, report: Reporter) -> None:
    if not schema.is_mutable:
        own = schema.arguments.self_argument
        place = own.offset if own else 0
        hint = "write Tensor(a!) self and -> Tensor(a!)"
        report.at_schema(place, "a mutation writes to none of its arguments", hint)
    elif [r.is_write for r in schema.returns] == [False]:
        what = "the result is not what the mutation writes to"
        report.at_schema(schema.returns[0].offset, what, "write -> Tensor(a!), or -> ()")

    if len(schema.returns) > 1:
        place = schema.returns[1].offset
        hint = "write -> (), or structure: composite"
        report.at_schema(place, "a mutation returns what it writes to, one tensor, or nothing", hint)


def _check_name_of_writing(schema: FunctionSchema, structure: str, report: Reporter) -> None:
    """A function that writes to ``self`` has a name that ends in "_"; one that writes to nothing has not."""
    own = schema.arguments.self_argument
    writes_to_self = own is not None and own.is_write

    if writes_to_self and not schema.is_inplace and structure in vocabulary.WRITING_STRUCTURES:
        what = "a function that writes to 'self' has a name that ends in '_'"
        hint = f"write {schema.base_name}_, or remove '!' and write variants: function, inplace"
        report.at_schema(0, what, hint)

    if schema.is_inplace and not writes_to_self and not schema.is_mutable:
        hint = "write Tensor(a!) self with structure: mutation"
        if structure in vocabulary.INPLACE_STRUCTURES:
            hint = f"write {schema.name.name.base} and variants: function, inplace"
        report.at_schema(0, "the name ends in '_', but nothing is written to", hint)


def _check_variants(operator: Operator, report: Reporter) -> None:
    own = operator.arguments.self_argument

    if operator.is_method and (own is None or not own.type.is_plain("Tensor")):
        report.at_word(
            "variants",
            "method",
            "a method needs an argument 'Tensor self'",
            "name the first argument self, or remove method",
        )
    elif operator.is_method and operator.python_module in report.context.dialect.prefixed_modules:
        what = f"operators of {operator.python_module} are functions, not methods"
        report.at_word("variants", "method", what, "remove method")

    if operator.has_inplace:
        _check_inplace(operator, own, report)
    elif "inplace_function" in operator.variants:
        report.at_word(
            "variants",
            "inplace_function",
            "a function of an in-place variant that the entry does not have",
            "write inplace, inplace_function",
        )

    if operator.has_out:
        _check_out(operator, report)


def _check_inplace(operator: Operator, own: Argument | None, report: Reporter) -> None:
    structure = operator.structure
    returns = operator.schema.returns

    if structure not in vocabulary.INPLACE_STRUCTURES:
        reason = (
            "writes in place already"
            if structure == "mutation"
            else "has a result of another shape than self"
        )
        message = f"{structure} {reason}"
        hint = "remove inplace"
    elif own is None or not own.type.is_plain("Tensor"):
        message = "an in-place variant needs an argument 'Tensor self'"
        hint = "remove inplace, or name the argument self"
    elif own.is_alias:
        message = f"'self' is Tensor{own.annotation}, which rules out an in-place variant"
        hint = "remove inplace"
    elif len(returns) != 1 or not returns[0].type.is_plain("Tensor"):
        message = "an in-place variant returns exactly one Tensor"
        hint = "remove inplace, or return one Tensor"
    else:
        return

    report.at_word("variants", "inplace", message, hint)


def _check_out(operator: Operator, report: Reporter) -> None:
    structure = operator.structure
    returns = operator.schema.returns

    if structure not in vocabulary.OUT_STRUCTURES:
        reason = "writes to its argument" if structure == "mutation" else "shares memory with its argument"
        message = f"a {structure} {reason}, so there is nothing to write to out="
        hint = "remove out"
    elif operator.schema.is_view or operator.schema.is_mutable:
        message = "the results are arguments or aliases of them"
        hint = "remove out"
    elif not returns or not all(r.type.is_plain("Tensor") for r in returns):
        message = "an out variant returns tensors only"
        hint = "remove out"
    else:
        return

    report.at_word("variants", "out", message, hint)
