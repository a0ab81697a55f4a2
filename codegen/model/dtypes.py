"""Reads ``dtype_sets:``, named sets of dtypes that may contain other sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from codegen.diagnostics import Diagnostics, did_you_mean
from codegen.dialect import Dialect
from codegen.model.program import DtypeSet
from codegen.model.words import Word, words
from codegen.yaml import MapValue, Text, Value


def dtype_hint(word: str, sets: Iterable[str], dialect: Dialect) -> str:
    known = list(sets)
    if not known:
        return "this file has no 'dtype_sets:', and no 'library: NAME', by which it extends one that has some"
    return did_you_mean(word, [*known, *dialect.dtypes, *dialect.dtype_aliases])


def read_dtype_sets(
    value: Value | None, inherited: Mapping[str, DtypeSet], dialect: Dialect, problems: Diagnostics
) -> dict[str, DtypeSet]:
    """The sets of ``dtype_sets:``, in file order."""
    if value is None:
        return {}
    if not isinstance(value, MapValue):
        problems.report(
            value.location, "dtype_sets", "the dtype sets are not a map", "write floating: [float32, float64]"
        )
        return {}
    return _Resolver(value, inherited, dialect, problems).resolve()


class _Resolver:
    def __init__(
        self, table: MapValue, inherited: Mapping[str, DtypeSet], dialect: Dialect, problems: Diagnostics
    ) -> None:
        self.entries = {key.text: (key, value) for key, value in table}
        self.inherited = inherited
        self.dialect = dialect
        self.problems = problems
        self.members: dict[str, tuple[str, ...]] = {}
        self.resolving: list[str] = []

    def resolve(self) -> dict[str, DtypeSet]:
        found = {}
        for name, (key, _) in self.entries.items():
            self.check_name(key)
            found[name] = DtypeSet(name, self.members_of(name), key.location)
        return found

    def check_name(self, key: Text) -> None:
        where = f"dtype_sets.{key.text}"

        if not key.text.isidentifier():
            self.problems.report(
                key.location, where, f"'{key.text}' cannot name a dtype set", "write a name such as floating"
            )
        elif self.dialect.canonical_dtype(key.text) is not None:
            self.problems.report(key.location, where, f"'{key.text}' is a dtype", "give the set another name")

        elif key.text in self.inherited:
            first = self.inherited[key.text].location
            self.problems.report(
                key.location,
                where,
                f"the dtype set '{key.text}' is declared already",
                f"use it, or give this one another name: see {first}",
            )

    def members_of(self, name: str) -> tuple[str, ...]:
        if name not in self.members:
            self.resolving.append(name)
            found: list[str] = []
            listed = words(self.entries[name][1], f"dtype_sets.{name}", "dtypes", self.problems)

            if not listed:
                self.problems.report(
                    self.entries[name][0].location,
                    f"dtype_sets.{name}",
                    "the dtype set is empty",
                    f"write {name}: [float32, float64]",
                )

            for word in listed:
                found += self.expand(name, word)

            self.resolving.pop()
            self.members[name] = self.dialect.in_canonical_order(found)
        return self.members[name]

    def expand(self, owner: str, word: Word) -> tuple[str, ...]:
        dtype = self.dialect.canonical_dtype(word.text)
        if dtype is not None:
            return (dtype,)

        if word.text in self.resolving:
            self.problems.report(
                word.location,
                f"dtype_sets.{owner}",
                f"the dtype set '{word.text}' contains itself",
                "remove it here",
            )
            return ()

        if word.text in self.entries:
            return self.members_of(word.text)
        if word.text in self.inherited:
            return self.inherited[word.text].members

        self.problems.report(
            word.location,
            f"dtype_sets.{owner}",
            f"unknown dtype or dtype set '{word.text}'",
            dtype_hint(word.text, [*self.entries, *self.inherited], self.dialect),
        )

        return ()
