"""What may be written at the cursor."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from codegen.lsp.facts import Facts, is_in_room
from codegen.lsp.files import OPERATORS
from codegen.lsp.formulas import names_of_expr, names_of_formula, names_of_requirement
from codegen.lsp.items import Item
from codegen.lsp.places import ITEM, Place
from codegen.lsp.text import Span
from codegen.model import vocabulary
from codegen.schema import BASE_TYPES

# More functions than this are worth typing a letter for.
_MOST_KERNELS = 200
_ANNOTATED = ("Tensor(a)", "Tensor(a!)", "Tensor?", "Tensor[]", "int[]", "int[1]?", "ScalarType?")


@dataclass(frozen=True)
class Completions:
    """The items, and the text that each replaces. ``is_incomplete``: another letter brings others."""

    span: Span
    items: tuple[Item, ...]
    is_incomplete: bool = False


def complete(place: Place, facts: Facts) -> Completions:
    span = Span(place.word.start if place.word.start < place.offset else place.offset, place.offset)
    found = _of_operators(place, facts) if facts.kind == OPERATORS else facts.editing.complete(place, facts)
    unique = {item.label: item for item in reversed(list(found))}  # all is a function and a set of dtypes
    return Completions(span, tuple(reversed(unique.values())), place.entry_key in ("dispatch", "shape"))


def _of_operators(place: Place, facts: Facts) -> Iterable[Item]:
    if place.is_in_entry:
        return _in_entry(place, facts)
    if place.key is None and place.path == ():
        return key_items(facts.key_meanings("file"), keys_at_top(place))
    if place.key is None and place.path[:1] == ("topics",) and len(place.path) == 2:
        return [Item("- func: ", "key", "a new entry")]
    inside = (*place.path, *([place.key] if place.key else []))
    if inside[:1] == ("dtype_sets",):
        return _table(facts.dtype_sets(), "constant")
    if inside[:1] == ("requirements",):
        return _requirement(place, facts) if len(inside) > 1 else ()
    return ()


def keys_at_top(place: Place) -> frozenset[str]:
    return frozenset(re.findall(r"^([a-z_]+) *:", place.text, re.MULTILINE))


def _in_entry(place: Place, facts: Facts) -> Iterable[Item]:
    if place.key is None and place.path[-1] == ITEM and len(place.path) == 3:
        return key_items(facts.key_meanings("entry"), place.keys_in_entry())
    if (
        place.key is not None
        and place.before == ""
        and len(place.path) == 3
        and place.text[place.offset - 1] == ":"
    ):
        return ()  # directly behind the colon, which needs a blank
    values = VALUES.get(place.entry_key or "")
    return values(place, facts) if values is not None else ()


# Values


def _words(known: Iterable[str], key: str = "") -> Callable[[Place, Facts], Iterable[Item]]:
    """Known words; those of a list that are written already are left out."""
    listed = tuple(known)

    def items(place: Place, facts: Facts) -> Iterable[Item]:
        table = facts.editing.words(key) if key else {}
        written = set(re.split(r"[\s,\[\]]+", place.before)[:-1])
        return [Item(word, "enum", "", table.get(word, "")) for word in listed if word not in written]

    return items


def _variants(place: Place, facts: Facts) -> Iterable[Item]:
    """Those that the structure can have."""
    structure = place.value_in_entry("structure")
    forms = {"inplace": vocabulary.INPLACE_STRUCTURES, "out": vocabulary.OUT_STRUCTURES}
    known = [v for v in vocabulary.VARIANTS if not structure or structure in forms.get(v, (structure,))]
    return _words(known, "variants")(place, facts)


def _modules(place: Place, facts: Facts) -> Iterable[Item]:
    return _words(facts.dialect.modules)(place, facts)


def _tags(place: Place, facts: Facts) -> Iterable[Item]:
    return _words(facts.dialect.tags)(place, facts)


def _promotion(place: Place, facts: Facts) -> Iterable[Item]:
    known = vocabulary.PROMOTIONS.get(place.value_in_entry("structure") or "", ())
    return _words(known)(place, facts)


def _dtypes(place: Place, facts: Facts) -> Iterable[Item]:
    return _table(facts.dtype_sets(), "constant")


def _dispatch(place: Place, facts: Facts) -> Iterable[Item]:
    if place.key is None or place.key == "dispatch":
        return [Item(key, "key", "", insert=f"{key}: ") for key in facts.dialect.dispatch_keys]
    key = place.key.split(",")[0].strip()
    return _kernels(place, facts, key)


def _shape(place: Place, facts: Facts) -> Iterable[Item]:
    return [item for item in _kernels(place, facts, "CPU") if item.label.endswith("_shape")]


def _kernels(place: Place, facts: Facts, key: str) -> Iterable[Item]:
    """Functions of the topic's files first; of others, those that begin as what is written."""
    topic = place.path[1]
    written = place.at(Span(place.word.start, place.offset)).lower()
    ranked: dict[str, Item] = {}
    for kernel in facts.kernels(key):
        is_near = is_in_room(kernel, topic)
        if is_near or (written and kernel.symbol.lower().startswith(written)):
            place_of = f"{kernel.path}:{kernel.line}"
            sort = f"{'0' if is_near else '1'}{kernel.symbol}"
            item = Item(kernel.symbol, "function", kernel.signature or "", place_of, sort=sort)
            ranked.setdefault(kernel.symbol, item)
    return sorted(ranked.values(), key=lambda item: item.sort)[:_MOST_KERNELS]


def _samples(place: Place, facts: Facts) -> Iterable[Item]:
    known = facts.surroundings.samples if facts.surroundings is not None else None
    return [Item(name, "function", "a generator of arguments") for name in sorted(known or ())]


def _reasons(place: Place, facts: Facts) -> Iterable[Item]:
    return _table(facts.program.reasons if facts.program is not None else {}, "reference")


def _tensor_arguments(place: Place, facts: Facts) -> Iterable[Item]:
    arguments = place.schema.arguments.tensors if place.schema is not None else ()
    return [Item(a.name, "variable", str(a)) for a in arguments]


def _arguments(place: Place, facts: Facts) -> Iterable[Item]:
    arguments = place.schema.arguments.flat_all if place.schema is not None else ()
    return [Item(a.name, "variable", str(a)) for a in arguments]


def _derivatives(place: Place, facts: Facts) -> Iterable[Item]:
    if place.key is None or place.key == "derivatives":
        return [
            Item(i.label, i.kind, i.detail, insert=f"{i.label}: ") for i in _tensor_arguments(place, facts)
        ]
    return names_of_formula(place, facts)


def _expr(place: Place, facts: Facts) -> Iterable[Item]:
    return names_of_expr(place)


def _requirement(place: Place, facts: Facts) -> Iterable[Item]:
    """Keys of a requirement, their words, and names in conditions and messages."""
    if place.key == "error":
        return _words(vocabulary.ERRORS)(place, facts)
    if place.key == "form":
        return _words(vocabulary.REQUIREMENT_FORMS)(place, facts)
    if place.key == "message":
        known = [*_arguments(place, facts), Item(vocabulary.OPERATOR_IN_MESSAGE, "constant")]
        return () if place.is_in_prose else known

    names = list(names_of_requirement(place, facts))
    named = _table(_named_requirements(facts), "reference")
    if place.key is not None:
        return [*named, *names] if place.key == "requires" else names
    keys = key_items(facts.key_meanings("requirement"), frozenset())
    is_first_word = not place.before.strip() or place.before.strip().isidentifier()
    return [*keys, *named, *names] if is_first_word else names


def _named_requirements(facts: Facts) -> dict[str, str]:
    program = facts.program
    return {} if program is None else {name: r.check.text for name, r in program.requirements.items()}


def _autocast(place: Place, facts: Facts) -> Iterable[Item]:
    keys = (
        [Item(key, "key", "", insert=f"{key}: ") for key in vocabulary.AUTOCAST_KEYS]
        if place.key is None
        else []
    )
    return [*keys, *(_words(vocabulary.AUTOCASTS)(place, facts) if place.key is not None else [])]


def _types(place: Place, facts: Facts) -> Iterable[Item]:
    """Types, where an argument or a result begins."""
    if re.search(r"(?:[(,]|->)\s*[\w]*$", place.before):
        return [Item(name, "type") for name in (*BASE_TYPES, *_ANNOTATED)]
    return ()


def _keys_of(known: Iterable[str]) -> Callable[[Place, Facts], Iterable[Item]]:
    """The keys of a map; not their values."""
    meanings_of = dict.fromkeys(known, "")
    return lambda place, facts: [] if place.key in meanings_of else key_items(meanings_of, frozenset())


def _doc(place: Place, facts: Facts) -> Iterable[Item]:
    """Names, inside of code."""
    if place.before.count("``") % 2 == 0:
        return ()
    return [*_arguments(place, facts), *(Item(o.base_name, "function") for o in facts.operators())]


# What may be written below each key of an entry.
VALUES: dict[str, Callable[[Place, Facts], Iterable[Item]]] = {
    "func": _types,
    "foreach": _types,
    "variants": _variants,
    "python_module": _modules,
    "structure": _words(vocabulary.STRUCTURES, "structure"),
    "promotion": _promotion,
    "dtypes": _dtypes,
    "scalars": _tensor_arguments,
    "renamed": _keys_of(vocabulary.RENAME_KEYS),
    "deprecated": _keys_of(vocabulary.DEPRECATION_KEYS),
    "deprecated_orders": _arguments,
    "dispatch": _dispatch,
    "derivatives": _derivatives,
    "non_differentiable": _reasons,
    "expr": _expr,
    "lowering": _expr,
    "reference": _arguments,
    "requires": _requirement,
    "samples": _samples,
    "doc": _doc,
    "tags": _tags,
    "reads": _tensor_arguments,
    "shape": _shape,
    "autocast": _autocast,
    "out_dtype": _words(vocabulary.OUT_DTYPES),
}
# Keys of which nobody can know the value.
WITHOUT_WORDS = ("aliases", "since")


def key_items(known: Mapping[str, str], written: frozenset[str]) -> list[Item]:
    return [
        Item(key, "key", "", meaning, insert=f"{key}: ")
        for key, meaning in known.items()
        if key not in written
    ]


def _table(table: Mapping[str, str], kind: str) -> list[Item]:
    return [Item(name, kind, meaning) for name, meaning in table.items()]
