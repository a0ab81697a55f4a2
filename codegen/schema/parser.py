"""The recursive-descent parser of schemas.

It accepts any spacing, then compares what it read with the canonical spelling: what parses also prints back
letter for letter, and a stray blank is an error with a position like every other.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from functools import lru_cache

from codegen.schema.arguments import Annotation, Argument, Arguments, Return
from codegen.schema.defaults import is_default
from codegen.schema.errors import SchemaError
from codegen.schema.function import FunctionSchema
from codegen.schema.names import BaseName, OperatorName
from codegen.schema.types import BASE_TYPES, BaseType, ListType, OptionalType, Type

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NUMBER = re.compile(r"\d+")
_BLANKS = frozenset(" \t\n")
_STRING = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_PLAIN_DEFAULT = re.compile(r"[^,()\[\]\s'\"]+")
_LIST_DEFAULT = re.compile(r"\[[^\[\]()]*\]")

# Spellings from C++, Python and other schema languages, and what this grammar calls them.
_FOREIGN_TYPES = {
    "tensor": "Tensor",
    "int64_t": "int",
    "integer": "int",
    "long": "int",
    "size_t": "int",
    "double": "float",
    "number": "Scalar",
    "string": "str",
    "std::string": "str",
    "boolean": "bool",
    "dtype": "ScalarType",
    "device": "Device",
    "layout": "Layout",
    "memory_format": "MemoryFormat",
    "IntArrayRef": "int[]",
    "TensorList": "Tensor[]",
    "IntList": "int[]",
    "complex": "Scalar",
    "generator": "Generator",
}

# Types of Python with parameters.
_PYTHON_TYPES = {
    "list": "write the type of an element and []: int[]",
    "sequence": "write the type of an element and []: int[]",
    "tuple": "write the type of an element and []: int[2]",
    "optional": "write the type and a question mark: int?",
    "union": "write Scalar for numbers, or an overload for each type",
}

_MAX_TYPE_LAYERS = 6


def parse_schema(text: str) -> FunctionSchema:
    """Parses a whole ``func:`` line; raises SchemaError."""
    parser = _Parser(text)
    name = parser.name_before_arguments()
    start = parser.position
    try:
        arguments, returns = _signature(text[start:])
    except SchemaError as error:
        raise SchemaError(error.message, start + error.offset, error.hint) from None

    schema = FunctionSchema(name, arguments, returns)
    canonical = str(schema)
    if canonical != text:
        offset = next(
            (i for i, (a, b) in enumerate(zip(text, canonical)) if a != b), min(len(text), len(canonical))
        )
        raise SchemaError("the schema is not in its canonical spelling", offset, f"write {canonical}")
    return schema


# Many operators take and return the same. They share the objects, and what is remembered with these.
@lru_cache(maxsize=10_000)
def _signature(text: str) -> tuple[Arguments, tuple[Return, ...]]:
    return _Parser(text).signature()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    # Scanning

    def skip_blanks(self) -> None:
        while self.text[self.position : self.position + 1] in _BLANKS:
            self.position += 1

    def at(self, token: str) -> bool:
        self.skip_blanks()
        return self.text.startswith(token, self.position)

    def accept(self, token: str) -> bool:
        if self.at(token):
            self.position += len(token)
            return True
        return False

    def expect(self, token: str, message: str, hint: str) -> None:
        if not self.accept(token):
            self.fail(message, hint)

    def match(self, pattern: re.Pattern[str]) -> str | None:
        self.skip_blanks()
        found = pattern.match(self.text, self.position)
        if found is None:
            return None
        self.position = found.end()
        return found.group()

    def found(self) -> str:
        """The next token, in words."""
        self.skip_blanks()
        if self.position >= len(self.text):
            return "the end"
        word = _IDENTIFIER.match(self.text, self.position)
        return f"'{word.group() if word else self.text[self.position]}'"

    def fail(self, message: str, hint: str, offset: int | None = None) -> None:
        self.skip_blanks()
        raise SchemaError(message, self.position if offset is None else offset, hint)

    def identifier(self, what: str, hint: str) -> str:
        name = self.match(_IDENTIFIER)
        if name is None:
            self.fail(f"expected {what}, found {self.found()}", hint)
        assert name is not None
        follows = self.text[self.position : self.position + 1]
        if follows.isalnum():
            shown = unicodedata.name(follows, "").lower()
            self.fail(f"'{follows}' is not an ASCII letter: {shown}", "write names in ASCII letters")
        return name

    # Grammar

    def name_before_arguments(self) -> OperatorName:
        """``add.Tensor``, of which ``(`` is the next token."""
        name = self.operator_name()
        if self.text.startswith("::", self.position):
            self.fail(f"the name begins with a namespace, '{name}::'", "write the name alone")
        if str(name) in BASE_TYPES and self.match(_IDENTIFIER) is not None:
            self.fail(f"the type of the result, {name}, in front", f"write it at the end: '-> {name}'", 0)
        if not self.at("("):
            self.fail(
                f"expected '(' after the operator's name, found {self.found()}",
                f"write {name}(Tensor self, ...) -> Tensor",
            )
        return name

    def signature(self) -> tuple[Arguments, tuple[Return, ...]]:
        """What follows the name of the operator: ``(Tensor self) -> Tensor``."""
        self.accept("(")
        arguments = self.arguments()
        self.expect(
            "->",
            f"expected '->' after the arguments, found {self.found()}",
            "write '-> Tensor', or '-> ()' when nothing is returned",
        )

        returns = self.returns()
        self.skip_blanks()
        if self.position != len(self.text):
            self.fail(
                f"nothing may follow the returns, found {self.found()}",
                "write several returns in parentheses: -> (Tensor, Tensor)",
            )

        return arguments, returns

    def operator_name(self) -> OperatorName:
        base = self.identifier("the operator's name", "write a name such as add or add.Tensor")
        overload = ""

        if self.accept("."):
            overload = self.identifier(
                "an overload name after '.'", f"write {base}.Tensor, or {base} without the dot"
            )
            if overload in ("default", "call"):
                self.fail(
                    f"'{overload}' is not a usable overload name",
                    f"write {base} without an overload",
                    self.position - len(overload),
                )

        return OperatorName(BaseName.of(base), overload)

    def arguments(self) -> Arguments:
        positional: list[Argument] = []
        keyword: list[Argument] = []
        seen_star = False

        while not self.at(")"):
            if positional or keyword or seen_star:
                self.expect(
                    ",",
                    f"expected ',' or ')' after an argument, found {self.found()}",
                    "separate arguments by ', ' and close them with ')'",
                )

            if self.at("*"):
                if seen_star:
                    self.fail(
                        "a second '*' among the arguments",
                        "write one '*': every argument behind it is keyword-only",
                    )
                self.accept("*")
                seen_star = True
                if self.at(")"):
                    self.fail("no argument after '*'", "remove ', *' or add a keyword-only argument")
                continue

            argument = self.argument()
            self.check_new_argument(argument, positional, keyword, seen_star)
            (keyword if seen_star else positional).append(argument)

        self.accept(")")
        return _grouped(positional, keyword)

    def check_new_argument(
        self, new: Argument, positional: list[Argument], keyword: list[Argument], star: bool
    ) -> None:
        if any(new.name == a.name for a in positional + keyword):
            self.fail(
                f"two arguments are called '{new.name}'", "give every argument its own name", new.name_offset
            )

        if not star and new.default is None and positional and positional[-1].default is not None:
            before = positional[-1].name
            self.fail(
                f"'{new.name}' has no default but follows '{before}', which has one",
                f"give '{new.name}' a default, or move it before '{before}', or behind '*'",
                new.offset,
            )

        if star and not new.is_write and keyword and keyword[-1].is_write:
            self.fail(
                f"'{new.name}' follows the out argument '{keyword[-1].name}'",
                "write out arguments last",
                new.offset,
            )

    def argument(self) -> Argument:
        self.skip_blanks()
        offset = self.position

        type_, annotation = self.type("an argument's type")
        self.skip_blanks()
        name_offset = self.position
        name = self.identifier("an argument's name", "write a type and a name, such as 'Tensor self'")

        default = None
        default_offset = 0
        if self.accept("="):
            self.skip_blanks()
            default_offset = self.position
            default = self.default(name)

        return Argument(type_, name, default, annotation, offset, name_offset, default_offset)

    def default(self, name: str) -> str:
        text = self.match(_STRING) or self.match(_LIST_DEFAULT) or self.match(_PLAIN_DEFAULT)

        if text is None:
            self.fail(
                f"expected the default of '{name}', found {self.found()}",
                f"write a value such as {name}=None, {name}=1 or {name}=[0,1]",
            )

        assert text is not None
        if " " in text and text[0] == "[":
            self.fail(
                "a blank in a default",
                f"write {name}={text.replace(' ', '')}",
                self.position - len(text) + text.index(" "),
            )
        if not is_default(text):
            self.fail(
                f"{text} is not a value",
                f"write a value such as {name}=None, {name}=1.0 or {name}=[0,1]",
                self.position - len(text),
            )

        return text

    def type(self, what: str) -> tuple[Type, Annotation | None]:
        self.skip_blanks()
        offset = self.position

        name = self.identifier(what, f"write one of {', '.join(BASE_TYPES[:10])}, ...")
        if name not in BASE_TYPES:
            self.fail(f"unknown type '{name}'", _type_hint(name), offset)

        annotation = self.annotation(name) if self.text.startswith("(", self.position) else None
        type_: Type = BaseType(name)

        for _ in range(_MAX_TYPE_LAYERS):
            if self.text.startswith("?", self.position):
                if isinstance(type_, OptionalType):
                    self.fail("'??' is not a type", "write one '?'")
                self.position += 1
                type_ = OptionalType(type_)
            elif self.text.startswith("[", self.position):
                type_ = self.list_of(type_)
            else:
                break
        else:
            self.fail("a type of too many layers", f"write at most {_MAX_TYPE_LAYERS - 1} of '?' and '[]'")

        if self.text.startswith("(", self.position):
            self.fail(
                "an alias annotation follows the base type directly", "write Tensor(a!)[] or Tensor(a!)?"
            )

        return type_, annotation

    def list_of(self, element: Type) -> ListType:
        self.accept("[")
        size = self.match(_NUMBER)
        self.expect("]", f"expected ']', found {self.found()}", "write a list as int[] or int[2]")
        return ListType(element, None if size is None else int(size))

    def annotation(self, base: str) -> Annotation:
        if base != "Tensor":
            self.fail(f"only tensors alias; {base} cannot be annotated", f"write {base} without parentheses")

        self.accept("(")
        sets = self.alias_sets()
        is_write = self.accept("!")
        after = self.alias_sets() if self.accept("->") else ()
        self.expect(
            ")",
            f"expected ')' after an alias annotation, found {self.found()}",
            "write (a), (a!), (a|b) or (a -> *)",
        )

        return Annotation(sets, is_write, after)

    def alias_sets(self) -> tuple[str, ...]:
        names = []
        while True:
            name = "*" if self.accept("*") else self.match(_IDENTIFIER)
            if name is None:
                self.fail(
                    f"expected the name of an alias set, found {self.found()}",
                    "write (a), (a!), (a|b) or (a -> *)",
                )

            assert name is not None
            names.append(name)
            if not self.accept("|"):
                return tuple(names)

    def returns(self) -> tuple[Return, ...]:
        if not self.accept("("):
            return (self.return_value(),)

        found: list[Return] = []
        while not self.at(")"):
            if found:
                self.expect(
                    ",",
                    f"expected ',' or ')' after a return, found {self.found()}",
                    "write -> (Tensor, Tensor)",
                )
            found.append(self.return_value())

        self.accept(")")
        return tuple(found)

    def return_value(self) -> Return:
        self.skip_blanks()
        offset = self.position
        type_, annotation = self.type("a return's type")
        return Return(type_, self.match(_IDENTIFIER), annotation, offset)


def _grouped(positional: list[Argument], keyword: list[Argument]) -> Arguments:
    index = next((i for i, a in enumerate(positional) if a.name == "self"), None)
    out = tuple(a for a in keyword if a.is_write)
    kwarg_only = tuple(a for a in keyword if not a.is_write)
    if index is None:
        return Arguments((), None, tuple(positional), kwarg_only, out)
    return Arguments(
        tuple(positional[:index]), positional[index], tuple(positional[index + 1 :]), kwarg_only, out
    )


def _type_hint(name: str) -> str:
    if name.lower() in _PYTHON_TYPES:
        return _PYTHON_TYPES[name.lower()]
    close = _FOREIGN_TYPES.get(name) or _FOREIGN_TYPES.get(name.lower())
    if close is None:
        matches = difflib.get_close_matches(name, BASE_TYPES, 1, 0.6)
        close = matches[0] if matches else None
    return f"did you mean {close}?" if close else f"write one of {', '.join(BASE_TYPES)}"
