"""The lines of each topic of a file, which can be read by themselves."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from codegen.diagnostics import Diagnostics
from codegen.model.chapters import chapter_at, chapters_of
from codegen.yaml import MapValue, Text, Value, load_part

_TOPICS = re.compile(r"^topics:[ \t]*(?:#.*)?$", re.MULTILINE)
# A line break is found much faster than the start of a line.
_KEY = re.compile(r"\n\w")


class Span(NamedTuple):
    """The lines of a topic, and of the comments behind it."""

    name: str
    chapter: str
    first_line: int
    text: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


class SplitFile(NamedTuple):
    """A file in pieces: ``head`` is all that precedes the first topic."""

    head: str
    chapters: tuple[str, ...]
    topics: list[Span]

    @property
    def outline(self) -> str:
        """What all topics depend on."""
        return self.head + "".join(self.chapters)


def split_topics(text: str) -> SplitFile | None:
    """None if the file has something behind its topics, none at all, or two with the same name."""
    found = _TOPICS.search(text)
    first = (
        None
        if found is None
        else re.compile(r"^( +)\w+:[ \t]*(?:#.*)?$", re.MULTILINE).search(text, found.end())
    )
    if found is None or first is None or _KEY.search(text, found.end()) is not None:
        return None

    heading = re.compile(rf"\n{first[1]}(\w+):[ \t]*(?:#.*)?$", re.MULTILINE)
    starts = [(match.start() + 1, match[1]) for match in heading.finditer(text, found.end())]
    chapters = chapters_of(text)
    spans = []
    line = 1 + text.count("\n", 0, starts[0][0])
    for (start, name), (end, _) in zip(starts, [*starts[1:], (len(text), "")]):
        spans.append(Span(name, chapter_at(chapters, start), line, text[start:end]))
        line += text.count("\n", start, end)

    if len({span.name for span in spans}) < len(spans):
        return None
    return SplitFile(text[: starts[0][0]], tuple(chapter.name for chapter in chapters), spans)


def read_head(name: str, split: SplitFile) -> MapValue | None:
    """The keys in front of the topics; None if they have to be read together with the rest of the file."""
    problems = Diagnostics()
    value = load_part(name, split.head, 1, problems)
    return None if problems or not isinstance(value, MapValue) else value


def read_alone(name: str, topic: Span) -> tuple[Text, Value] | None:
    """The name and the entries of a topic; None if its YAML has a problem.

    That of a topic may begin in another one: a quote that is not closed, the anchor of an alias.
    """
    problems = Diagnostics()
    value = load_part(name, topic.text, topic.first_line, problems)
    if problems or not isinstance(value, MapValue) or [key.text for key, _ in value] != [topic.name]:
        return None
    return next(iter(value))
