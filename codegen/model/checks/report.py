"""A diagnostic at a place inside an entry."""

from __future__ import annotations

from codegen.diagnostics import Diagnostics, Location
from codegen.model.operator import Operator
from codegen.model.reading import Context
from codegen.model.words import words


class Reporter:
    """Reports for one operator."""

    def __init__(self, operator: Operator, context: Context) -> None:
        self.operator = operator
        self.context = context

    def at(self, location: Location, message: str, hint: str) -> None:
        self.context.problems.report(location, self.operator.name, message, hint)

    def at_key(self, key: str, message: str, hint: str) -> None:
        """At the value of ``key``, or at the entry when it has no such key."""
        self.at(self.operator.location_of(key), message, hint)

    def at_schema(self, offset: int, message: str, hint: str) -> None:
        """At the offset of an argument or a result; 0 is the start of the schema."""
        self.at_offset(self.operator.location, self.operator.schema.place(offset), message, hint)

    def at_offset(self, location: Location, offset: int, message: str, hint: str) -> None:
        """At a character of the text that starts at ``location``."""
        text = self.context.texts.get(location)
        self.at(text.location_at(offset) if text else location, message, hint)

    def at_word(self, key: str, word: str, message: str, hint: str) -> None:
        """At ``word`` inside the comma list of ``key``."""
        place = self.operator.location_of(key)
        written = words(self.context.lists.get(place), self.operator.name, key, Diagnostics())
        found = next((one.location for one in written if one.text == word), place)
        self.at(found, message, hint)
