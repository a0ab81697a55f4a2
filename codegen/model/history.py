"""What an entry says about its past and its end: ``since``, ``deprecated`` and ``renamed``.

All three name versions of the package that declares the operator.
"""

from __future__ import annotations

import re

from codegen.diagnostics import did_you_mean
from codegen.model import vocabulary
from codegen.model.operator import Deprecation, Rename
from codegen.model.requirements import Report
from codegen.yaml import ListValue, MapValue, Text, Value, kind_of

_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)?")
_VERSION = re.compile(r"\d+(\.\d+)*")


def is_later(one: str, other: str) -> bool:
    """Whether version ``one`` comes after ``other``: 0.10 after 0.9.1; 0.1 and 0.1.0 are the same."""
    return _numbers(one) > _numbers(other)


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


class HistoryReader:
    """Reads the values of the three keys; ``version`` is the one being built, None where it is unknown."""

    def __init__(self, report: Report, version: str | None) -> None:
        self.report = report
        self.version = version

    def version_of(self, value: Value | None, what: str) -> str | None:
        """The version that ``what``, such as ``since``, names."""
        if value is None:
            return None
        if not isinstance(value, Text):
            self.report(value.location, f"'{what}' is a {kind_of(value)}", f"write {what}: {self.example}")
            return None

        text = value.text.strip()
        if not _VERSION.fullmatch(text):
            self.report(value.location, f"'{text}' is not a version", f"write {what}: {self.example}")
            return None
        if self.version is not None and is_later(text, self.version):
            message = f"{what} {text} is later than this version, {self.version}"
            self.report(
                value.location, message, f"write {what}: {self.example}, or change the version of the package"
            )
            return None
        return text

    def deprecation(self, value: Value | None) -> Deprecation | None:
        """``{since: 0.2, use: torch.linalg.qr}``"""
        if value is None:
            return None
        example = f"{{since: {self.example}, use: torch.NAME}}"
        if not isinstance(value, MapValue):
            hint = f"write deprecated: {example}; orders of arguments are deprecated_orders"
            self.report(value.location, f"'deprecated' is a {kind_of(value)}", hint)
            return None

        self.check_keys(value, "deprecated", vocabulary.DEPRECATION_KEYS)
        since = self.needed(value, "since", example)
        use = self.needed(value, "use", example)
        version = self.version_of(since, "since")
        if since is None or version is None or use is None:
            return None
        return Deprecation(version, use.text.strip(), use.location, since.location)

    def renames(self, value: Value | None) -> tuple[Rename, ...]:
        """``{from: soft, since: 0.2}``, or a list of such maps."""
        if value is None:
            return ()
        items = list(value) if isinstance(value, ListValue) else [value]
        if not items:
            self.report(value.location, "'renamed' is empty", f"write {self.rename_example}, or remove it")
        found = [self.rename(item) for item in items]
        return tuple(rename for rename in found if rename is not None)

    def rename(self, value: Value) -> Rename | None:
        if not isinstance(value, MapValue):
            message = f"'renamed' is a {kind_of(value)}"
            self.report(value.location, message, f"write renamed: {self.rename_example}")
            return None

        self.check_keys(value, "renamed", vocabulary.RENAME_KEYS)
        name = self.needed(value, "from", self.rename_example)
        since = self.needed(value, "since", self.rename_example)
        version = self.version_of(since, "since")
        if name is None or since is None or version is None:
            return None

        text = name.text.strip()
        if not _NAME.fullmatch(text):
            hint = "write it as in its schema: softcap, or softcap.Tensor"
            self.report(name.location, f"'{text}' is not the name of an operator", hint)
            return None
        return Rename(text, version, name.location, since.location)

    @property
    def rename_example(self) -> str:
        return f"{{from: OLD_NAME, since: {self.example}}}"

    def check_keys(self, value: MapValue, what: str, known: tuple[str, ...]) -> None:
        for key, _ in value:
            if key.text not in known:
                hint = did_you_mean(key.text, known)
                self.report(key.location, f"unknown key '{key.text}' in '{what}'", hint)

    def needed(self, value: MapValue, key: str, example: str) -> Text | None:
        """The text of a key that a map must have."""
        found = value.get(key)
        if isinstance(found, Text) and found.text.strip():
            return found
        place = value.location if found is None else found.location
        what = "missing" if found is None else "not a text"
        self.report(place, f"'{key}' is {what}", f"write {example}")
        return None

    @property
    def example(self) -> str:
        return self.version or "0.1"
