"""The schema of native_functions.yaml and of a package's file."""

from __future__ import annotations

from collections.abc import Iterable

from codegen.dtypes import DTYPE_ALIASES, DTYPES
from codegen.model import vocabulary
from codegen.targets.torch_py import keys
from codegen.targets.torch_py.json_schema.meanings import meanings
from codegen.targets.torch_py.json_schema.shapes import (
    DOTTED,
    NAME,
    Schema,
    comma_list,
    described,
    mapping,
    matching,
    one_of,
    one_or_several,
    table,
    text,
    words,
    words_of,
)
from codegen.targets.torch_py.python_modules import PYTHON_MODULES

_SCHEMA = rf"{DOTTED}\s*\([\s\S]*\)\s*->[\s\S]*\S"
# What entries say of every structure; without it they cannot be read.
_REQUIRED = ("func", "structure", "doc")


def operators_schema() -> Schema:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Operators",
        "description": "Operators of torch_py: docs/entries.md. `python -m codegen schema` writes this file.",
        **mapping(described(_document(), meanings("A file")), ["topics"]),
        "definitions": {"entry": _entry(), "requirement": _requirement()},
    }


def _document() -> dict[str, Schema]:
    entries: Schema = {
        "anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/definitions/entry"}}]
    }
    return {
        "library": matching(NAME),
        "dtype_sets": table(NAME, _dtypes()),
        "requirements": table(NAME, {"$ref": "#/definitions/requirement"}),
        "reasons": table(NAME, text()),
        "topics": {**table("[A-Z][A-Za-z0-9_]*", entries), "minProperties": 0},
    }


def _entry() -> Schema:
    schema = mapping(described(_keys(), meanings("An entry")), _REQUIRED)
    return {**schema, "allOf": [_of_structure(structure) for structure in vocabulary.STRUCTURES]}


def _keys() -> dict[str, Schema]:
    """The value of each key; a key of the vocabulary without a line here is a KeyError."""
    values: dict[str, Schema] = {
        "func": matching(_SCHEMA),
        "variants": words_of(vocabulary.VARIANTS),
        "python_module": one_of(PYTHON_MODULES),
        "aliases": words(DOTTED),
        "since": _version(),
        "renamed": one_or_several(_past(vocabulary.RENAME_KEYS, "from", DOTTED)),
        "deprecated": _past(vocabulary.DEPRECATION_KEYS, "use", r"[\w.]+"),
        "deprecated_orders": one_or_several(words(NAME)),
        "structure": one_of(vocabulary.STRUCTURES),
        "promotion": one_of(
            dict.fromkeys(word for known in vocabulary.PROMOTIONS.values() for word in known)
        ),
        "dtypes": _dtypes(),
        "scalars": words(NAME),
        "dispatch": table(comma_list("|".join(keys.DISPATCH_KEYS)), matching(NAME)),
        "derivatives": table(comma_list(NAME), text()),
        "non_differentiable": text(),
        "expr": text(),
        "lowering": text(),
        "reference": text(),
        "requires": one_or_several({"$ref": "#/definitions/requirement"}),
        "samples": matching(NAME),
        "doc": text(),
        "tags": words_of(keys.TAGS),
        "shape": matching(NAME),
        "autocast": _autocast(),
        "reads": words(NAME),
        "out_dtype": one_of(vocabulary.OUT_DTYPES),
        "foreach": one_or_several(matching(_SCHEMA)),
    }
    return {key: values[key] for key in vocabulary.ENTRY_KEYS}


def _version() -> Schema:
    """YAML makes 0.2 a number."""
    return {"type": ["string", "number"], "pattern": r"^\s*\d+(\.\d+)*\s*$"}


def _past(keys: Iterable[str], key: str, pattern: str) -> Schema:
    """A map that says since when, and one thing more."""
    values = {"since": _version(), key: matching(pattern)}
    return mapping({name: values[name] for name in keys}, keys)


def _dtypes() -> Schema:
    """The names of sets are up to the file; editors offer the dtypes."""
    known = one_of([*DTYPES, *DTYPE_ALIASES])
    return {"anyOf": [known, *words(NAME)["anyOf"]]}


def _autocast() -> Schema:
    keys = comma_list("|".join(vocabulary.AUTOCAST_KEYS))
    by_device = table(keys, one_of(vocabulary.AUTOCASTS[1:]))
    return {"anyOf": [one_of(vocabulary.AUTOCASTS), by_device]}


def _requirement() -> Schema:
    values: dict[str, Schema] = {
        "check": text(),
        "error": one_of(vocabulary.ERRORS),
        "message": text(),
        "form": one_of(vocabulary.REQUIREMENT_FORMS),
    }
    keys = {key: values[key] for key in vocabulary.REQUIREMENT_KEYS}
    return {"anyOf": [text(), mapping(described(keys, meanings("Requirements")), ["check"])]}


def _of_structure(structure: str) -> Schema:
    """What only entries of some structures may say: promotions, and the forms that are generated."""
    promotions = vocabulary.PROMOTIONS.get(structure)
    forms = {"inplace": vocabulary.INPLACE_STRUCTURES, "out": vocabulary.OUT_STRUCTURES}
    excluded = [form for form, structures in forms.items() if structure not in structures]
    keys: dict[str, Schema] = {"promotion": one_of(promotions) if promotions else {"not": {}}}
    if excluded:
        keys["variants"] = words_of(form for form in vocabulary.VARIANTS if form not in excluded)

    condition: Schema = {"properties": {"structure": {"const": structure}}, "required": ["structure"]}
    return {"if": condition, "then": {"properties": keys}}
