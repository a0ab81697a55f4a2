"""Named requirements and reasons, which a file declares once for several entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from codegen.diagnostics import Diagnostics, Location, did_you_mean
from codegen.yaml import MapValue, Value

Meaning = TypeVar("Meaning")


class Names(Generic[Meaning]):
    """A table of names and meanings, which also records the names that entries use.

    ``inherited`` holds the names of the program that a library extends.
    """

    def __init__(self, key: str, word: str, inherited: Mapping[str, Meaning]) -> None:
        self.key = key
        self.word = word  # how messages call one of them
        self.own: dict[str, Meaning] = {}
        self.inherited = inherited
        self.locations: dict[str, Location] = {}
        self.used: set[str] = set()

    def start_topic(self) -> set[str]:
        """Forgets the names in use, and returns them: those of one topic are recorded apart."""
        used = self.used
        self.used = set()
        return used

    def read(
        self,
        value: Value | None,
        meaning: Callable[[Value], Meaning | None],
        example: str,
        problems: Diagnostics,
    ) -> None:
        """Reads ``value``; ``meaning`` reads what follows each name."""
        if value is None:
            return

        if not isinstance(value, MapValue):
            problems.report(value.location, self.key, f"'{self.key}' is not a map", f"write {example}")
            return

        for name, item in value:
            if not name.text.isidentifier():
                problems.report(
                    name.location,
                    f"{self.key}.{name.text}",
                    f"'{name.text}' cannot name a {self.word}",
                    f"write one word, as in {example}",
                )
                continue

            found = meaning(item)
            self.locations[name.text] = name.location
            if found is not None:
                self.own[name.text] = found

    def find(
        self, name: str, location: Location, report: Callable[[Location, str, str], None]
    ) -> Meaning | None:
        """The meaning of ``name``; an unknown one is reported at ``location``."""
        self.used.add(name)
        if name in self.own:
            return self.own[name]
        if name in self.inherited:
            return self.inherited[name]
        if name not in self.locations:  # otherwise its declaration has been reported
            known = [*self.locations, *self.inherited]
            hint = did_you_mean(name, known) if known else f"declare it below {self.key}:"
            report(location, f"unknown {self.word} '{name}'", hint)
        return None

    def check_use(self, problems: Diagnostics) -> None:
        """Reports names that no entry uses."""
        for name, location in self.locations.items():
            if name not in self.used:
                problems.report(
                    location, f"{self.key}.{name}", f"no entry uses the {self.word} '{name}'", "remove it"
                )
