"""Renames an argument in all parts of its entry."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator

from codegen.diagnostics import Diagnostics
from codegen.expressions import ExpressionError, parse
from codegen.expressions.nodes import Name, walk
from codegen.lsp.facts import Facts
from codegen.lsp.places import Place
from codegen.lsp.text import Edit, Span
from codegen.model.words import split_words
from codegen.schema import FunctionSchema, SchemaError
from codegen.yaml import ListValue, MapValue, Text, Value, load_document

_CODE = re.compile(r"``(.*?)``", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


# Texts with the name, and where it is in each.
Found = Iterator[tuple[Text, int]]


class RenameError(Exception):
    """Why an argument cannot be renamed."""


def argument_at(place: Place) -> Span | None:
    """The name of an argument at the cursor."""
    if place.entry is None or not place.at(place.word):
        return None
    try:
        spans = list(_Occurrences(place, place.at(place.word)))
    except RenameError:
        return None
    return place.word if place.word in spans else None


def rename(place: Place, facts: Facts, new: str) -> list[Edit]:
    """The edits that give the argument at the cursor another name. Raises RenameError where that is wrong."""
    if argument_at(place) is None or place.schema is None:
        raise RenameError("the cursor is not on an argument of an entry that can be read")
    old = place.at(place.word)
    if not new.isidentifier() or not new.isascii() or keyword.iskeyword(new):
        raise RenameError(f"'{new}' is not a name of an argument")
    if new in place.schema.arguments.names():
        raise RenameError(f"'{new}' is another argument of {place.operator_name}")

    _check_named_requirements(place, facts, old)
    return [Edit(span, new) for span in sorted(_Occurrences(place, old), key=lambda span: span.start)]


def _check_named_requirements(place: Place, facts: Facts, old: str) -> None:
    """A requirement that several entries share cannot follow one of them."""
    operator = facts.operator(place.operator_name)
    for requirement in operator.requires if operator is not None else ():
        read = {node.name for node in walk(requirement.check.node) if isinstance(node, Name)}
        if requirement.name and old in read | set(_PLACEHOLDER.findall(requirement.message or "")):
            raise RenameError(
                f"the requirement '{requirement.name}', which other entries share, reads '{old}'"
            )


class _Occurrences:
    """The places of an argument's name in an entry. Iterating raises RenameError if a part cannot be read."""

    def __init__(self, place: Place, name: str) -> None:
        assert place.entry is not None
        self.start = place.entry.start
        self.name = name
        root = load_document("entry", place.at(place.entry), Diagnostics()).root
        items = root.items if isinstance(root, ListValue) else ()
        if len(items) != 1 or not isinstance(items[0], MapValue):
            raise RenameError("the entry is not valid YAML")
        self.entry = items[0]

    def __iter__(self) -> Iterator[Span]:
        for key, value in self.entry:
            for text, offset in self._in_key(key.text, value):
                start = text.source.index_in_scalar(text.start, text.end, text.text, offset)
                yield Span(self.start + start, self.start + start + len(self.name))

    def _in_key(self, key: str, value: Value) -> Found:
        """Each text with the name, and where it is in its value."""
        find = {
            "func": self._in_schema,
            "foreach": self._in_schema,
            "expr": self._in_formula,
            "lowering": self._in_formula,
            "scalars": self._in_words,
            "reads": self._in_words,
            "deprecated_orders": self._in_words,
            "reference": self._in_python,
            "doc": self._in_doc,
        }.get(key)

        if find is not None:
            yield from self._each(value, find)
        elif key == "derivatives" and isinstance(value, MapValue):
            for names, formula in value:
                yield from self._in_words(names)
                yield from self._each(formula, self._in_formula)
        elif key == "requires":
            for item in value.items if isinstance(value, ListValue) else (value,):
                yield from self._in_requirement(item)

    def _each(self, value: Value, find: Callable[[Text], Found]) -> Found:
        """``find`` in a text, or in each of a list."""
        if isinstance(value, Text):
            yield from find(value)
        elif isinstance(value, ListValue):
            for item in value:
                yield from self._each(item, find)

    def _in_schema(self, text: Text) -> Found:
        try:
            schema = FunctionSchema.parse(text.text)
        except SchemaError as error:
            raise RenameError(error.message) from error
        for argument in schema.arguments.flat_all:
            if argument.name == self.name:
                yield text, schema.place(argument.name_offset)

    def _in_formula(self, text: Text) -> Found:
        if text.text.strip() != "non_differentiable":
            yield from ((text, offset) for offset in self._names(text.text))

    def _names(self, formula: str) -> Iterator[int]:
        try:
            node = parse(formula)
        except ExpressionError as error:
            raise RenameError(f"'{formula}' cannot be read: {error.message}") from error
        yield from (part.offset for part in walk(node) if isinstance(part, Name) and part.name == self.name)

    def _in_words(self, text: Text) -> Found:
        yield from ((text, word.offset) for word in split_words(text) if word.text == self.name)

    def _in_requirement(self, value: Value) -> Found:
        if isinstance(value, Text):
            yield from self._in_formula(value)
        for key, item in value if isinstance(value, MapValue) else ():
            if isinstance(item, Text) and key.text == "check":
                yield from self._in_formula(item)
            elif isinstance(item, Text) and key.text == "message":
                for found in _PLACEHOLDER.finditer(item.text):
                    yield from ((item, found.start(1) + offset) for offset in self._names(found[1]))

    def _in_python(self, text: Text) -> Found:
        """In an expression of NumPy; the path of a test names nothing."""
        if text.text.strip().endswith(".py"):
            return
        try:
            tree = ast.parse(text.text.strip(), mode="eval")
        except SyntaxError as error:
            raise RenameError(f"the reference cannot be read: {error.msg}") from error
        indent = len(text.text) - len(text.text.lstrip())
        lines = text.text.strip().splitlines(keepends=True)
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id == self.name:
                above = sum(map(len, lines[: node.lineno - 1]))
                column = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
                yield text, indent + above + column

    def _in_doc(self, text: Text) -> Found:
        """In code, where it is neither a part of another name nor called."""
        for code in _CODE.finditer(text.text):
            for found in re.finditer(rf"(?<![\w.]){self.name}\b(?!\s*\()", code[1]):
                yield text, code.start(1) + found.start()
