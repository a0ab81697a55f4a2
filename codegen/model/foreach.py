"""Reads ``foreach:``, the schemas of operators that call the entry's operator for every tensor of a list.

Note [Arguments of list operators]. An argument of ``_foreach_add.Scalar(Tensor[] self, Scalar scalar)``
belongs to the argument of ``add.Tensor`` that has its name, otherwise to the one in its place. Its type says
what each call gets: an element of a list, the same value, or a number where the operator takes a tensor, and
the other way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from codegen.model.operator import Each, EachArgument, Operator
from codegen.model.reading import EntryReader
from codegen.schema import Annotation, Argument, FunctionSchema, SchemaError
from codegen.yaml import ListValue, Text, Value

_EXAMPLE = "_foreach_NAME(Tensor[] self) -> Tensor[]"
# (type that the operator takes, type in the schema of lists) -> kind. The same type, or a list of it, also
# fits.
_CONVERTED = {
    ("Tensor", "Tensor"): "single",
    ("Tensor", "Scalar"): "number",
    ("Tensor", "Scalar[]"): "numbers",
    ("Scalar", "Tensor"): "packed",
}


def list_operators(reader: EntryReader, operator: Operator) -> Iterator[Operator]:
    """The operators that ``foreach`` declares, and their in-place forms where the operator has one."""
    value = reader.values.get("foreach")
    if value is None:
        return
    items = list(value) if isinstance(value, ListValue) else [value]
    if not items or (isinstance(value, Text) and not value.text.strip()):
        reader.report(value.location, "'foreach' is empty", f"write {_EXAMPLE}, or remove 'foreach'")
        return
    for item in items:
        schema = _schema(reader, item)
        if schema is not None and isinstance(item, Text):
            yield from _Matching(reader, operator, item, schema).operators()


def _schema(reader: EntryReader, item: Value) -> FunctionSchema | None:
    if not isinstance(item, Text):
        reader.report(item.location, "'foreach' takes schemas", f"write {_EXAMPLE}")
        return None
    try:
        reader.context.texts[item.location] = item
        return FunctionSchema.parse(item.text)
    except SchemaError as error:
        reader.report(item.location_at(error.offset), error.message, error.hint)
        return None


class _Matching:
    """Matches one schema of lists with the operator that it calls."""

    def __init__(self, reader: EntryReader, operator: Operator, item: Text, schema: FunctionSchema) -> None:
        self.reader = reader
        self.operator = operator
        self.item = item
        self.schema = schema
        self.has_problems = False

    def report(self, offset: int, message: str, hint: str) -> None:
        self.has_problems = True
        self.reader.report(self.item.location_at(self.schema.place(offset)), message, hint)

    def operators(self) -> Iterator[Operator]:
        self.check_form()
        arguments = self.arguments()
        if self.has_problems:
            return

        yield self.derived(self.schema, arguments)

        own = self.schema.arguments.self_argument
        if (
            self.operator.has_inplace
            and not self.schema.is_inplace
            and own is not None
            and str(own.type) == "Tensor[]"
        ):
            yield self.derived(_inplace(self.schema, own), arguments)

    def check_form(self) -> None:
        name = self.operator.name
        returns = self.schema.returns
        own = self.schema.arguments.self_argument

        if [str(r.type) for r in self.operator.schema.returns] != ["Tensor"]:
            self.report(0, f"{name} does not return one Tensor", "remove 'foreach'")

        if not any(str(a.type) == "Tensor[]" for a in self.schema.arguments):
            self.report(0, "a list operator takes no list of tensors", "write Tensor[] self")
        elif self.schema.is_inplace and (own is None or str(own) != "Tensor(a!)[] self" or returns):
            self.report(
                0,
                "the name ends in '_', but it does not only write to 'self'",
                "write Tensor(a!)[] self and -> ()",
            )
        elif not self.schema.is_inplace and [str(r) for r in returns] != ["Tensor[]"]:
            self.report(
                returns[0].offset if returns else 0, "a list operator returns a list", "write -> Tensor[]"
            )

        elif not self.schema.is_inplace and self.operator.schema.is_mutable:
            self.report(
                0,
                f"{name} writes to its argument",
                f"write {self.schema.name.name.base}_(Tensor(a!)[] self) -> ()",
            )

    def arguments(self) -> tuple[EachArgument, ...]:
        """The source of each argument of the operator, in the order of its schema."""
        called = self.operator.schema.arguments.flat_all
        given = self.schema.arguments.flat_all
        found: dict[str, EachArgument] = {}
        names = {a.name for a in given}

        for position, argument in enumerate(given):
            same_place = called[position : position + 1]
            target = self.operator.schema.arguments.find(argument.name) or next(
                (a for a in same_place if a.name not in names), None
            )

            if target is None:
                self.report(
                    argument.name_offset,
                    f"'{argument.name}' matches no argument of {self.operator.name}",
                    f"call it as one of {', '.join(a.name for a in called)}, or put it in the place of one",
                )
                continue

            kind = _kind(str(target.type), str(argument.type))
            if kind is None:
                self.report(
                    argument.offset,
                    f"'{argument.name}' is {argument.type}, but {self.operator.name} takes {target.type}",
                    f"write {target.type}[] {argument.name}, or {target.type} {argument.name}",
                )
            found[target.name] = EachArgument(kind or "same", position)

        for missing in called:
            if missing.name not in found and not missing.has_default:
                self.report(
                    0,
                    f"'{missing.name}' of {self.operator.name} is missing",
                    f"write {missing.type}[] {missing.name}",
                )

        return tuple(found.get(a.name, EachArgument("default", -1)) for a in called)

    def derived(self, schema: FunctionSchema, arguments: tuple[EachArgument, ...]) -> Operator:
        operator = self.operator
        location = self.item.location

        called = operator.base_name + ("_" if schema.is_inplace and operator.has_inplace else "")
        doc = (
            f"``{called}`` on each tensor of a list."
            if schema.is_inplace
            else f"``{called}`` of each tensor, as a tuple."
        )

        return Operator(
            schema=schema,
            topic=operator.topic,
            structure="composite",
            samples=operator.samples,
            doc=doc,
            library=operator.library,
            location=location,
            key_locations={"func": location, "structure": location},
            entry_text=operator.entry_text,
            each=Each(operator, arguments),
            out_dtype=operator.out_dtype,
            chapter=operator.chapter,
        )


def _kind(theirs: str, ours: str) -> str | None:
    if ours == f"{theirs}[]":
        return "each"
    return _CONVERTED.get((theirs, ours), "same" if theirs == ours else None)


def _inplace(schema: FunctionSchema, own: Argument) -> FunctionSchema:
    arguments = replace(
        schema.arguments, self_argument=replace(own, annotation=Annotation(("a",), is_write=True))
    )
    return FunctionSchema(schema.name.in_place(), arguments, ())
