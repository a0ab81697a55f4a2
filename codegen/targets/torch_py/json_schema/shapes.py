"""Parts of JSON schemas: texts, comma lists, and maps with described keys.

Patterns are those of ECMAScript, and are not anchored by themselves. YAML makes ``1.5`` a number and ``true``
a truth value; the reader takes both as texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

Schema = dict[str, Any]

NAME = "[A-Za-z_][A-Za-z0-9_]*"
# A name, or a name in a module.
DOTTED = rf"{NAME}(?:\.{NAME})?"


def text() -> Schema:
    """Any text but an empty one."""
    return {"type": ["string", "number", "boolean"], "pattern": r"\S"}


def matching(pattern: str) -> Schema:
    """A text of this form; blanks around it do not count."""
    return {"type": "string", "pattern": rf"^\s*(?:{pattern})\s*$"}


def comma_list(pattern: str) -> str:
    """The pattern of ``a, b``."""
    return rf"[\s,]*(?:{pattern})(?:\s*,[\s,]*(?:{pattern}))*[\s,]*"


def words(pattern: str) -> Schema:
    """``a, b`` or ``[a, b]``, where each word has the form ``pattern``."""
    written = matching(comma_list(pattern))
    return {"anyOf": [written, {"type": "array", "items": written, "minItems": 1}]}


def words_of(known: Iterable[str]) -> Schema:
    """Like ``words``, of known ones, which editors offer."""
    listed = list(known)
    pattern = comma_list("|".join(map(re.escape, listed)))
    item: Schema = {"anyOf": [{"enum": listed}, matching(pattern)]}
    return {"anyOf": [*item["anyOf"], {"type": "array", "items": item, "minItems": 1}]}


def one_of(known: Iterable[str]) -> Schema:
    return {"enum": list(known)}


def mapping(properties: Mapping[str, Schema], required: Iterable[str] = ()) -> Schema:
    """A map with these keys only."""
    schema: Schema = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    listed = list(required)
    return {**schema, "required": listed} if listed else schema


def table(key: str, value: Schema) -> Schema:
    """A map whose keys have the form ``key``; at least one."""
    return {
        "type": "object",
        "patternProperties": {rf"^\s*(?:{key})\s*$": value},
        "additionalProperties": False,
        "minProperties": 1,
    }


def one_or_several(item: Schema) -> Schema:
    """The item, or a list of such items."""
    return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}


def described(properties: Mapping[str, Schema], meanings: Mapping[str, str]) -> dict[str, Schema]:
    """The properties with what the documentation says of each."""
    return {
        key: {"description": meanings[key], **schema} if key in meanings else schema
        for key, schema in properties.items()
    }
