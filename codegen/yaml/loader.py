"""Reads YAML with libyaml's composer: every key and value keeps its place, every scalar stays text.

Nothing is resolved to numbers, booleans or dates, so ``no``, ``1.0`` and ``on`` mean what they say. Duplicate
keys, anchors that contain themselves and syntax errors become diagnostics.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from codegen.diagnostics import Diagnostics, Location
from codegen.remembered import remembered
from codegen.yaml.entries import Span, blanked, broken_entries, entry_around, entry_starts, name_in
from codegen.yaml.slips import unfinished_merge
from codegen.yaml.source import Source
from codegen.yaml.syntax import syntax_hint

# libyaml is an order of magnitude faster; the pure Python loader reports the same marks.
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_QUOTES = ("'", '"')
_MAX_SYNTAX_ERRORS = 50
# Beyond what any file needs: libyaml's composer ends the process when brackets are nested 100,000 deep.
_MOST_LEVELS = 50


@dataclass(frozen=True)
class _Located:
    """A value, at [start, end) of the text of ``source``."""

    source: Source
    start: int
    end: int

    @property
    def location(self) -> Location:
        return self._location()

    @remembered
    def _location(self) -> Location:
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
    """Values in file order."""

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
    return _Reader(Source(name, text), problems).read()


def load_part(name: str, text: str, first_line: int, problems: Diagnostics) -> Value | None:
    """Reads lines of a file that are a map by themselves; None if they are not YAML."""
    source = Source(name, text, first_line)
    if unfinished_merge(text) is not None:
        return None
    try:
        if not _has_few_levels(source, text, problems):
            return None
        node = yaml.compose(text, Loader=_Loader)
        return None if node is None else _Converter(source, problems).convert(node)
    except (yaml.YAMLError, _TooManyValues):
        return None


class _Reader:
    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.source = source
        self.problems = problems
        self.text = source.text  # without what cannot be read
        self.unreadable: set[str] = set()

    def read(self) -> Document:
        self.leave_conflicts_out()
        try:
            return self.document()
        except yaml.YAMLError:
            self.leave_broken_entries_out()

        # What is wrong between entries, or with the indentation of one, is found in the file as a whole.
        for _ in range(_MAX_SYNTAX_ERRORS):
            try:
                return self.document()
            except yaml.YAMLError as error:
                index, message, hint = syntax_hint(error, self.text)
                if not self.leave_out(entry_around(self.text, index), index, message, hint):
                    break
        return Document(self.source, None, frozenset(self.unreadable))

    def document(self) -> Document:
        """Raises YAMLError unless the text is YAML."""
        root = None
        swallowed: set[str] = set()
        try:
            if _has_few_levels(self.source, self.text, self.problems):
                node = yaml.compose(self.text, Loader=_Loader)
                converter = _Converter(self.source, self.problems)
                root = None if node is None else converter.convert(node)
                swallowed = converter.swallowed
        except _TooManyValues as error:
            message = f"aliases make this file more than {_most_values(self.text)} values"
            self.problems.report(self.source.location(error.index), "yaml", message, "write the values out")
        return Document(self.source, root, frozenset(self.unreadable | swallowed))

    def leave_conflicts_out(self) -> None:
        """Reports an unfinished merge once; the entry that it is in is read as it was here."""
        found = unfinished_merge(self.text)
        if found is not None:
            index, self.text = found
            span = entry_around(self.text, index)
            self.leave_out(span, index, "an unfinished merge", "choose one side, and remove the markers")

    def leave_broken_entries_out(self) -> None:
        for span, index, message, hint in list(broken_entries(self.text, _Loader)):
            self.leave_out(span, index, message, hint)

    def leave_out(self, span: Span | None, index: int, message: str, hint: str) -> bool:
        """Reports what is wrong at ``index`` and blanks the entry out. False if it is not in an entry."""
        name = None if span is None else name_in(self.text, span)
        self.problems.report(self.source.location(index), name or "yaml", message, hint)
        if span is None:
            return False
        if name is not None:
            self.unreadable.add(name)
        self.text = blanked(self.text, span)
        return True


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


def _most_values(text: str) -> int:
    """More than a file has without aliases: ten lists of ten of each other are ten thousand million."""
    return max(1000, len(text))


class _TooManyValues(Exception):
    def __init__(self, index: int) -> None:
        self.index = index


class _Converter:
    def __init__(self, source: Source, problems: Diagnostics) -> None:
        self.source = source
        self.problems = problems
        self.open: set[int] = set()
        self.values = 0
        self.most_values = _most_values(source.text)
        self.swallowed: set[str] = set()  # operators whose entries are part of others

    def convert(self, node: yaml.Node) -> Value | None:
        start = node.start_mark.index
        end = node.end_mark.index
        self.values += 1
        if self.values > self.most_values:
            raise _TooManyValues(start)
        if isinstance(node, yaml.ScalarNode):
            if node.style in _QUOTES and end - start > len(node.value) + 2:
                self.check_quote(start, end)
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

    def check_quote(self, start: int, end: int) -> None:
        """A text in quotes that holds entries was to end before them."""
        held = entry_starts(self.source.text[start:end])
        if held:
            self.problems.report(
                self.source.location(start),
                "yaml",
                "a quote is not closed",
                "close it on the line where the value ends",
            )

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
                yield Text(self.source, start, key_node.end_mark.index, sys.intern(key)), value

    def missing_dash(self, key_node: yaml.Node, value_node: yaml.Node) -> None:
        """A second ``func`` in an entry begins another, whose keys are not the first one's."""
        schema = value_node.value if isinstance(value_node, yaml.ScalarNode) else ""
        name = schema.split("(")[0].strip() or "yaml"
        self.swallowed.add(name.split(".")[0])
        place = self.source.location(key_node.start_mark.index)
        self.problems.report(
            place, name, "an entry begins here without '-'", "write - func: and align its keys"
        )
