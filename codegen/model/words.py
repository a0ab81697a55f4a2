"""Reads comma lists; ``function, method`` and ``[function, method]`` are the same."""

from __future__ import annotations

import re
from typing import NamedTuple

from codegen.diagnostics import Diagnostics, Location
from codegen.yaml import ListValue, Text, Value

_WORD = re.compile(r"[^,\s][^,]*")


class Word(NamedTuple):
    """One word of a comma list. Its location is computed only for words that are reported."""

    text: str
    value: Text
    offset: int

    @property
    def location(self) -> Location:
        return self.value.location_at(self.offset)


def words(value: Value | None, operator: str, what: str, problems: Diagnostics) -> list[Word]:
    """The words of a list; one that occurs twice is reported and counts once."""
    if value is None:
        return []

    if not isinstance(value, (Text, ListValue)):
        problems.report(
            value.location, operator, f"the {what} are a map", f"write the {what} separated by commas"
        )
        return []

    items = [value] if isinstance(value, Text) else list(value)
    found: dict[str, Word] = {}

    for item in items:
        if not isinstance(item, Text):
            problems.report(
                item.location, operator, f"the {what} are nested", f"write the {what} separated by commas"
            )
            continue

        for word in split_words(item):
            if word.text in found:
                problems.report(
                    word.location, operator, f"'{word.text}' occurs twice among the {what}", "remove one"
                )
            found.setdefault(word.text, word)

    return list(found.values())


def split_words(value: Text) -> list[Word]:
    """``a, b`` -> its two words."""
    return [Word(m.group().rstrip(), value, m.start()) for m in _WORD.finditer(value.text)]
