"""Reads conditions on arguments: ``requires:`` of an entry, and the named ones of ``requirements:``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from codegen.diagnostics import Location, did_you_mean
from codegen.model import vocabulary
from codegen.model.named import Names
from codegen.model.operator import ErrorName, Formula, Requirement
from codegen.yaml import ListValue, MapValue, Text, Value, kind_of

Report = Callable[[Location, str, str], None]


class RequirementReader:
    """Reads requirements. ``formula`` parses a condition; ``remember`` keeps a message for later checks."""

    def __init__(
        self, report: Report, formula: Callable[[Text], Formula], remember: Callable[[Text], None]
    ) -> None:
        self.report = report
        self.formula = formula
        self.remember = remember

    def read(self, value: Value | None, named: Names[Requirement], arguments: list[str]) -> list[Requirement]:
        """The requirements of an entry. A single word that is not an argument names one of ``named``."""
        if value is None:
            return []
        items = list(value) if isinstance(value, ListValue) else [value]
        if not items:
            self.report(value.location, "'requires' is empty", "write - dim(self) == 2, or remove 'requires'")

        found = []
        for item in items:
            word = item.text.strip() if isinstance(item, Text) else ""
            if word.isidentifier() and word not in arguments:
                known = named.find(word, item.location, self.report)
                found.append(None if known is None else replace(known, name=word, used_at=item.location))
            else:
                found.append(self.requirement(item))
        return [requirement for requirement in found if requirement is not None]

    def requirement(self, value: Value) -> Requirement | None:
        """A condition, or a map of its condition, error and message."""
        if isinstance(value, Text) and value.text.strip():
            return Requirement(self.formula(value), "RuntimeError", None)
        if not isinstance(value, MapValue):
            self.report(value.location, "a requirement is not a condition", "write - dim(self) == 2")
            return None
        self.check_keys(value)

        check, error, message, form = (value.get(key) for key in vocabulary.REQUIREMENT_KEYS)
        if not isinstance(check, Text):
            hint = "write {check: dim(self) == 2, error: ValueError}"
            self.report(value.location, "the requirement has no 'check'", hint)
            return None
        error = self.text(error, "error", ", ".join(vocabulary.ERRORS))
        message = self.text(message, "message", '"self has no {self}"')
        form = self.text(form, "form", ", ".join(vocabulary.REQUIREMENT_FORMS))
        if message is not None:
            self.remember(message)
        return Requirement(
            self.formula(check),
            self.error(error),
            message.text if message is not None else None,
            message.location if message is not None else None,
            error_location=error.location if error is not None else None,
            form=self.form(form),
        )

    def check_keys(self, value: MapValue) -> None:
        for key, _ in value:
            if key.text not in vocabulary.REQUIREMENT_KEYS:
                hint = did_you_mean(key.text, vocabulary.REQUIREMENT_KEYS)
                self.report(key.location, f"unknown key '{key.text}' in a requirement", hint)

    def error(self, value: Text | None) -> ErrorName:
        if value is None:
            return "RuntimeError"
        if value.text not in vocabulary.ERRORS:
            hint = did_you_mean(value.text, vocabulary.ERRORS)
            self.report(value.location, f"unknown error '{value.text}'", hint)
            return "RuntimeError"
        return cast(ErrorName, value.text)

    def form(self, value: Text | None) -> str | None:
        if value is not None and value.text not in vocabulary.REQUIREMENT_FORMS:
            hint = did_you_mean(value.text, vocabulary.REQUIREMENT_FORMS)
            self.report(value.location, f"unknown form '{value.text}' of a requirement", hint)
            return None
        return None if value is None else value.text

    def text(self, value: Value | None, key: str, example: str) -> Text | None:
        if value is None or (isinstance(value, Text) and value.text.strip()):
            return value
        kind = "empty" if isinstance(value, Text) else f"a {kind_of(value)}"
        self.report(value.location, f"the {key} of a requirement is {kind}", f"write {key}: {example}")
        return None
