"""Reads YAML with libyaml's composer: every key and value keeps its place, every scalar stays text.

Nothing is resolved to numbers, booleans or dates, so ``no``, ``1.0`` and ``on`` mean what they say. Duplicate
keys, anchors that contain themselves and syntax errors become diagnostics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from codegen.diagnostics import Diagnostics, Location
from codegen.yaml.slips import unfinished_merge
from codegen.yaml.source import Source
from codegen.yaml.syntax import syntax_hint

# libyaml is an order of magnitude faster; the pure Python loader reports the same marks.
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

# The first line of an entry. An entry whose YAML cannot be read is blanked out.
_ENTRY_START = re.compile(r"^ *- +func:", re.MULTILINE)
_ENTRY_NAME = re.compile(r"- +func: *['\"]?([A-Za-z_]\w*)")
_MAX_SYNTAX_ERRORS = 50
# Beyond what any file needs. libyaml's composer ends the process when brackets are nested 100,000 deep, and
# ten lists of ten aliases of each other are ten thousand million values.
_MOST_LEVELS = 50
_MOST_VALUES = 200_000


@dataclass(frozen=True)
class _Located:
    source: Source
    start: int
    end: int

    @property
    def location(self) -> Location:
        return self.source.location(self.start)


@dataclass(frozen=True)
class Text(_Located):
    """A scalar of any kind, as text; an empty value is the empty text."""

    text: str

    def location_at(self, offset: int) -> Location:
        """Of a character of ``text``, across quotes, escapes and the lines of block scalars."""
        return self.source.location(self.source.index_in_scalar(self.start, self.end, self.text, offset))


@dataclass(frozen=True)
class ListValue(_Located):
    items: tuple[Value, ...]

    def __iter__(self) -> Iterator[Value]:
        return iter(self.items)


@dataclass(frozen=True)
class MapValue(_Located):
    """Keys in file order; every key occurs once."""

    entries: tuple[tuple[Text, Value], ...]

    def __iter__(self) -> Iterator[tuple[Text, Value]]:
        return iter(self.entries)

    def get(self, key: str) -> Value | None:
        return next((value for name, value in self.entries if name.text == key), None)

    def key(self, key: str) -> Text | None:
        return next((name for name, _ in self.entries if name.text == key), None)


Value = Text | ListValue | MapValue


def kind_of(value: Value) -> str:
    """``text``, ``list`` or ``map``."""
    return {"Text": "text", "ListValue": "list", "MapValue": "map"}[type(value).__name__]


@dataclass(frozen=True)
class Document:
    """``root`` is None for an empty file; ``unreadable`` names the operators whose entries cannot be read."""

    source: Source
    root: Value | None
    unreadable: frozenset[str]


def load_document(name: str, text: str, problems: Diagnostics) -> Document:
    """Reads the entries of ``text``.

    An entry that is not valid YAML is reported and left out, so that the others are still checked.
    """
    source = Source(name, text)
    unreadable: set[str] = set()
    text = _without_conflicts(source, text, problems, unreadable)
    for _ in range(_MAX_SYNTAX_ERRORS):
        try:
            if not _has_few_levels(source, text, problems):
                break
            node = yaml.compose(text, Loader=_Loader)
            converter = _Converter(source, problems)
            root = None if node is None else converter.convert(node)
            return Document(source, root, frozenset(unreadable | converter.swallowed))
        except _TooManyValues as error:
            problems.report(
                source.location(error.index),
                "yaml",
                f"aliases make this file more than {_MOST_VALUES} values",
                "write the values out",
            )
            break
        except yaml.YAMLError as error:
            index, message, hint = syntax_hint(error, text)
            span = _entry_around(text, index)
            operator = _ENTRY_NAME.search(text, *span) if span else None
            problems.report(source.location(index), operator.group(1) if operator else "yaml", message, hint)
            if span is None:
                return Document(source, None, frozenset(unreadable))
            if operator:
                unreadable.add(operator.group(1))
            # Blank lines keep the line numbers of what follows.
            text = text[: span[0]] + re.sub(r"[^\n]", " ", text[span[0] : span[1]]) + text[span[1] :]
    return Document(source, None, frozenset(unreadable))


def _without_conflicts(source: Source, text: str, problems: Diagnostics, unreadable: set[str]) -> str:
    """Reports an unfinished merge once; the entry that it is in is read as it was here."""
    found = unfinished_merge(text)
    if found is None:
        return text
    index, text = found
    span = _entry_around(text, index)
    operator = _ENTRY_NAME.search(text, *span) if span else None
    name = operator.group(1) if operator else "yaml"
    problems.report(
        source.location(index), name, "an unfinished merge", "choose one side, and remove the markers"
    )
    if span is not None and operator is not None:
        unreadable.add(name)
        text = text[: span[0]] + re.sub(r"[^\n]", " ", text[span[0] : span[1]]) + text[span[1] :]
    return text


def _has_few_levels(source: Source, text: str, problems: Diagnostics) -> bool:
    """Looks at the brackets and indentation only, before anything is built from them."""
    try:
        return _has_few_levels_in(yaml.parse(text, Loader=_Loader), source, problems)
    except yaml.YAMLError as error:
        # Newer versions of libyaml have a limit of their own, and read ahead as far as it.
        if "nesting depth" not in str(error):
            raise
        return _has_few_levels_in(yaml.parse(text, Loader=yaml.BaseLoader), source, problems)


def _has_few_levels_in(events: Iterator[yaml.Event], source: Source, problems: Diagnostics) -> bool:
    levels = 0
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            levels += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            levels -= 1

        if levels > _MOST_LEVELS:
            problems.report(
                source.location(getattr(event.start_mark, "index", 0)),
                "yaml",
                "lists and maps are nested too deeply",
                f"write at most {_MOST_LEVELS} levels",
            )
            return False
    return True


def _entry_around(text: str, index: int) -> tuple[int, int] | None:
    """The lines of the entry that contains ``index``.

    The error of an unclosed quote may be found in the next entry.
    """
    starts = [m.start() for m in _ENTRY_START.finditer(text)]
    before = [s for s in starts if s <= index]
    if not before:
        return None
    after = [s for s in starts if s > before[-1]]
    return before[-1], after[0] if after else len(text)


class _TooManyValues(Exception):
    def __init__(self, index: int) -> None:
        self.index = index


class _Converter:
    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.source = source
        self.problems = problems
        self.open: set[int] = set()
        self.values = 0
        self.swallowed: set[str] = set()  # operators whose entries are part of others

    def convert(self, node: yaml.Node) -> Value | None:
        start = node.start_mark.index
        end = node.end_mark.index
        self.values += 1
        if self.values > _MOST_VALUES:
            raise _TooManyValues(start)
        if isinstance(node, yaml.ScalarNode):
            return Text(self.source, start, end, node.value)

        if id(node) in self.open:
            self.problems.report(
                self.source.location(start), "yaml", "an anchor contains itself", "write the value out"
            )
            return None

        self.open.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            items = tuple(v for v in map(self.convert, node.value) if v is not None)
            found: Value = ListValue(self.source, start, end, items)
        else:
            found = MapValue(self.source, start, end, tuple(self.pairs(node)))
        self.open.discard(id(node))

        return found

    def pairs(self, node: yaml.Node) -> Iterator[tuple[Text, Value]]:
        seen: dict[str, int] = {}
        owner = "yaml"

        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self.problems.report(
                    self.source.location(key_node.start_mark.index),
                    owner,
                    "a key is a list or a map",
                    "write a plain word as the key",
                )
                continue

            key = key_node.value
            if key == "func" and key in seen:
                self.missing_dash(key_node, value_node)
                return
            if key == "func" and isinstance(value_node, yaml.ScalarNode):
                owner = value_node.value.split("(")[0] or owner

            start = key_node.start_mark.index
            if key in seen:
                first = self.source.location(seen[key]).line
                self.problems.report(
                    self.source.location(start),
                    owner,
                    f"the key '{key}' occurs twice",
                    f"remove one: the first is in line {first}",
                )
                continue

            seen[key] = start
            value = self.convert(value_node)
            if value is not None:
                yield Text(self.source, start, key_node.end_mark.index, key), value

    def missing_dash(self, key_node: yaml.Node, value_node: yaml.Node) -> None:
        """A second ``func`` in an entry begins another, whose keys are not the first one's."""
        schema = value_node.value if isinstance(value_node, yaml.ScalarNode) else ""
        name = schema.split("(")[0].strip() or "yaml"
        self.swallowed.add(name.split(".")[0])
        place = self.source.location(key_node.start_mark.index)
        self.problems.report(
            place, name, "an entry begins here without '-'", "write - func: and align its keys"
        )
