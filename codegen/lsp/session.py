"""One open file: its text, what is known of it, and when it is checked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from codegen.lsp.checking import Checked, Checker, Finding
from codegen.lsp.facts import Facts
from codegen.lsp.files import Bases
from codegen.lsp.text import Lines, normalised

# Seconds after the last keystroke: until the changed entries are checked, and until the whole file is.
SOON = 0.08
LATER = 0.8

_log = logging.getLogger(__name__)


class Session:
    """``publish`` is called with the findings of the text, whenever they are new."""

    def __init__(
        self, path: Path, bases: Bases, encoding: str, publish: Callable[[Session, tuple[Finding, ...]], None]
    ) -> None:
        self.path = path
        self.lines = Lines("", encoding)
        self.version: int | None = None
        self.findings: tuple[Finding, ...] = ()
        self.published: set[str] = set()  # the other files in which something was found

        self._encoding = encoding
        self._publish = publish
        self._bases = bases
        self._checker = Checker(path, bases)
        self._checked: Checked | None = None
        self._readable: Checked | None = None  # the last one with a program
        self._soon: asyncio.TimerHandle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._check: asyncio.Task[None] | None = None
        self._is_closed = False

    @property
    def text(self) -> str:
        return self.lines.text

    def facts(self) -> Facts:
        bases = self._bases
        last = self._readable or self._checked
        return Facts(
            self.path,
            bases.kind_of(self.path, self.text) or "",
            bases.known(self.text) if self._readable is None else self._readable.program,
            None if last is None else last.surroundings,
            bases.target.dialect,
            bases.editing,
        )

    def change(self, text: str, version: int | None) -> None:
        """Takes the new text; it is checked when nobody has typed for a moment."""
        self.lines = Lines(normalised(text), self._encoding)
        self.version = version
        loop = asyncio.get_running_loop()
        self._cancel()
        if self._checked is not None:
            self._soon = loop.call_later(SOON, self.check_changes)
        self._later = loop.call_later(LATER if self._checked is not None else 0, self.check)

    def close(self) -> None:
        self._is_closed = True
        self._cancel()

    def _cancel(self) -> None:
        for timer in (self._soon, self._later):
            if timer is not None:
                timer.cancel()

    def check_changes(self) -> None:
        """Checks the entries that differ from the text that was checked last."""
        if self._checked is None or self._is_closed:
            return
        try:
            found = self._checker.check_changes(self.text, self._checked)
        except Exception:
            _log.exception("the changed entries of %s cannot be checked", self.path)
            return
        if found is not None:
            self._show(found)

    def check(self) -> None:
        """Checks the whole file, in a thread; once more if it changes meanwhile."""
        if self._check is None or self._check.done():
            self._check = asyncio.get_running_loop().create_task(self._check_whole())

    async def _check_whole(self) -> None:
        text = self.text
        try:
            checked = await asyncio.to_thread(self._checker.check, text)
        except Exception:
            _log.exception("%s cannot be checked", self.path)
            return
        if self._is_closed:
            return

        self._checked = checked
        if checked.program is not None:
            self._readable = checked
        if text == self.text:
            self._show(checked.findings)
        else:
            self.check_changes()

    def _show(self, findings: tuple[Finding, ...]) -> None:
        self.findings = findings
        self._publish(self, findings)
