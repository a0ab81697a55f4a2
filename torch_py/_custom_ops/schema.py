"""Schemas of operators declared in Python: read from text, or from the annotations of a function."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from torch_py import _C
from torch_py._tensor import Tensor

_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*(\.\w+)?$")
# The types of schemas: a name, perhaps what it may alias, "(a!)", then "?" and "[]" in any order.
_TYPE = re.compile(
    r"(Tensor|int|SymInt|float|SymFloat|bool|SymBool|str|complex|Scalar|ScalarType|Device|Layout|MemoryFormat|"
    r"Generator|Stream|QScheme|Storage|Dimname|DimVector|Any|number|AnyEnumType|__torch__[\w.]+|"
    r"Dict\(\w+, ?\w+(\[\])?\))"
    r"(\([\w!|* >-]*\))?(\?|\[\d*\])*$"
)
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "int": (int,),
    "SymInt": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
}
_CONSTANTS = {"True": True, "False": False, "None": None}
_REQUIRED = inspect.Parameter.empty


class Argument(NamedTuple):
    name: str
    type: str
    default: Any
    keyword_only: bool

    @property
    def is_tensor(self) -> bool:
        return self.type.startswith("Tensor")

    @property
    def is_written(self) -> bool:
        return "!" in self.type


class Schema(NamedTuple):
    name: str  # namespace::name, perhaps .overload
    arguments: tuple[Argument, ...]
    text: str
    results: tuple[str, ...]  # types
    result_count: int  # -1: a list

    def check_result(self, value: Any) -> None:
        """Raises RuntimeError for a result of other types than the schema says."""
        if self.result_count == 1:
            values = (value,)
        else:
            values = value if isinstance(value, (list, tuple)) else (value,)
        if not self.results:
            fits = value is None
        elif self.result_count == -1:
            fits = _fits(value, self.results[0])
        else:
            fits = len(values) == len(self.results) and all(map(_fits, values, self.results))

        if not fits:
            raise RuntimeError(
                f"{self.name}() returned {_described(value)}, which does not fit its schema {self.text}"
            )

    def bind(
        self, arguments: Sequence[Any], keywords: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """All values in order, defaults filled in, as positional and keyword-only ones.

        Raises TypeError for what does not fit.
        """
        positional = [argument for argument in self.arguments if not argument.keyword_only]
        if len(arguments) > len(positional):
            raise TypeError(
                f"{self.name}() takes {len(positional)} positional argument(s) but {len(arguments)} were "
                f"given: {self.text}"
            )

        given = dict(zip([argument.name for argument in positional], arguments))
        for name, value in keywords.items():
            if name in given or name not in {argument.name for argument in self.arguments}:
                raise TypeError(
                    f"{self.name}() got an unexpected or repeated keyword argument {name!r}: {self.text}"
                )
            given[name] = value

        for argument in self.arguments:
            if given.setdefault(argument.name, argument.default) is _REQUIRED:
                raise TypeError(
                    f"{self.name}() is missing a value for argument {argument.name!r}: {self.text}"
                )

            if (
                argument.type.rstrip("?") in ("Tensor",)
                and not isinstance(given[argument.name], Tensor)
                and not argument.type.endswith("?")
            ):
                raise TypeError(
                    f"{self.name}(): expected a Tensor for argument {argument.name!r}, "
                    f"got {type(given[argument.name]).__name__}"
                )

        rest = {argument.name: given[argument.name] for argument in self.arguments if argument.keyword_only}
        return tuple(given[argument.name] for argument in positional), rest


def _fits(value: Any, kind: str) -> bool:
    if kind.endswith("?"):
        return value is None or _fits(value, kind[:-1])
    if kind.endswith("]"):
        element = kind[: kind.rindex("[")]
        return isinstance(value, (list, tuple)) and all(_fits(item, element) for item in value)
    expected = _PYTHON_TYPES.get(kind.partition("(")[0])
    return expected is None or isinstance(value, expected)


def _described(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} of ({', '.join(type(item).__name__ for item in value)})"
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _split(text: str) -> list[str]:
    """At commas outside brackets and quotes."""
    parts = []
    depth = 0
    start = 0
    quoted = False
    for place, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        quoted ^= letter in "'\""
        if letter == "," and depth == 0 and not quoted:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _default(text: str) -> Any:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(_C, text, text)  # a dtype, a layout, or a word such as Mean


def _checked_type(kind: str, text: str) -> str:
    if not _TYPE.match(kind):
        raise RuntimeError(
            f"unknown type specifier {kind!r} in {text!r}. Types of schemas are Tensor, SymInt, int, float, "
            "bool, str, Scalar, ScalarType, Device, and lists (Tensor[]) and optional values (int?) of them"
        )
    return kind


def _result_types(results: str, text: str) -> tuple[str, ...]:
    """The types in "(Tensor, int n)", without names."""
    if not results:
        raise RuntimeError(f"expected the type of the result after '->', such as Tensor or (), in {text!r}")
    is_tuple = results.startswith("(") and results.endswith(")")
    parts = _split(results[1:-1]) if is_tuple else [results]
    return tuple(_checked_type(re.sub(r" \w+$", "", part), text) for part in parts)


def parse_schema(text: str) -> Schema:
    """ "ns::name(Tensor x, *, int n=1) -> Tensor" as a Schema.

    Raises ValueError for text that is not a schema, and RuntimeError for types that do not exist.
    """
    head, separator, rest = text.partition("(")
    inside, arrow, results = rest.rpartition("->")
    if not separator or not arrow or not _NAME.match(head.strip()):
        raise ValueError(f"expected a schema such as 'namespace::name(Tensor x) -> Tensor', got {text!r}")

    arguments: list[Argument] = []
    keyword_only = False
    for part in _split(inside.strip()[:-1]):
        if part == "*":
            keyword_only = True
            continue

        declared, has_default, default = part.partition("=")
        kind, _, name = declared.strip().rpartition(" ")
        if not kind or not name.isidentifier():
            raise ValueError(
                f"expected 'TYPE NAME' or 'TYPE NAME=DEFAULT' in a schema, got {part!r} in {text!r}"
            )

        if name in {argument.name for argument in arguments}:
            raise ValueError(f"the argument {name!r} occurs twice in {text!r}")
        if not has_default and not keyword_only and arguments and arguments[-1].default is not _REQUIRED:
            raise ValueError(f"the argument {name!r} without default follows one with a default in {text!r}")
        arguments.append(
            Argument(
                name,
                _checked_type(kind.strip(), text),
                _default(default.strip()) if has_default else _REQUIRED,
                keyword_only,
            )
        )

    results = results.strip()
    types = _result_types(results, text)
    count = len(types) if results.startswith("(") else (-1 if "[]" in results else 1)
    return Schema(head.strip(), tuple(arguments), text, types, count)


def _type_names() -> dict[Any, str]:
    # Sizes are ints here, and symbolic integers in schemas.
    names: dict[Any, str] = {
        Tensor: "Tensor",
        int: "SymInt",
        float: "float",
        bool: "bool",
        str: "str",
        _C.dtype: "ScalarType",
        _C.device: "Device",
        int | float | bool: "Scalar",
        type(None): "()",
        None: "()",
    }
    return names


def _type_name(annotation: Any, what: str) -> str:
    names = _type_names()
    try:
        if annotation in names:
            return names[annotation]
    except TypeError:
        pass

    origin = typing.get_origin(annotation)
    parts = typing.get_args(annotation)
    if origin in (list, Sequence, tuple) and parts:
        return f"{_type_name(parts[0], what)}[]"

    others = [part for part in parts if part is not type(None)]
    if len(others) == len(parts) - 1 and others:
        return f"{_type_name(typing.Union[tuple(others)], what)}?"  # noqa: UP007  # of a list that is not written out

    raise ValueError(
        f"infer_schema: {what} has the annotation {annotation!r}, which is not a type of an operator"
    )


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str] = (),
    op_name: str | None = None,
) -> str:
    """The schema of a function from its annotations.

    Raises ValueError when one is missing or no type of an operator.
    """
    hints = typing.get_type_hints(prototype_function)
    parts = []
    seen_star = False
    writes = {mutates_args} if isinstance(mutates_args, str) else set(mutates_args)
    parameters = inspect.signature(prototype_function).parameters

    if unknown := writes - {"unknown"} - set(parameters):
        raise ValueError(
            f"infer_schema: mutates_args names {sorted(unknown)}, which the function does not have: "
            f"{list(parameters)}"
        )

    for place, (name, parameter) in enumerate(parameters.items()):
        if parameter.kind is parameter.KEYWORD_ONLY and not seen_star:
            parts.append("*")
            seen_star = True

        if name not in hints:
            raise ValueError(f"infer_schema: parameter {name!r} must have a type annotation")

        kind = _type_name(hints[name], f"parameter {name!r}")
        if kind.startswith("Tensor") and (name in writes or "unknown" in writes):
            kind = kind.replace("Tensor", f"Tensor(a{place}!)", 1)
        default = "" if parameter.default is _REQUIRED else f"={_written(parameter.default)}"
        parts.append(f"{kind} {name}{default}")

    return f"{op_name or ''}({', '.join(parts)}) -> {_result_name(hints.get('return', _REQUIRED))}"


def _written(default: Any) -> str:
    return str(default).removeprefix("torch.") if isinstance(default, _C.dtype) else repr(default)


def _result_name(annotation: Any) -> str:
    if annotation is _REQUIRED:
        raise ValueError("infer_schema: the function must have an annotation of what it returns")
    if typing.get_origin(annotation) is tuple:
        return f"({', '.join(_type_name(part, 'the result') for part in typing.get_args(annotation))})"
    return _type_name(annotation, "the result")
