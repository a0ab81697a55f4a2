"""Which files the server answers for, and the programs that they extend."""

from __future__ import annotations

import re
from pathlib import Path

from codegen.diagnostics import Diagnostics
from codegen.lsp.editing import Editing
from codegen.model import Program, read_program
from codegen.remembered import cached_property
from codegen.target import Target

OPERATORS = "operators"
_LIBRARY = "library"


class Bases:
    """The files of a target: what kind each is, and the program that libraries and other files extend.

    That program is read again when its file has changed. ``path`` is its file, by default the target's.
    """

    def __init__(self, target: Target, path: Path | None = None) -> None:
        self.target = target
        self.path = path or target.base
        self._program: Program | None = None
        self._state: tuple[int, int] | None = None

    @cached_property
    def editing(self) -> Editing:
        return Editing() if self.target.editing is None else self.target.editing()

    def kind_of(self, path: Path, text: str) -> str | None:
        """``operators``, or a key of ``Target.file_kinds``; None for any other YAML, as that of another
        target."""
        if path.name == self.target.declarations:
            return OPERATORS
        found = self._mark.search(text)
        if found is None:
            return None
        return OPERATORS if found[1] == _LIBRARY else found[1]

    @cached_property
    def _mark(self) -> re.Pattern[str]:
        """The key at the top of a file that extends another."""
        kinds = "|".join([*self.target.file_kinds, _LIBRARY])
        return re.compile(rf"^({kinds}) *:", re.MULTILINE)

    def known(self, text: str) -> Program | None:
        """The base of a text, if it has been read already."""
        return self._program if self._mark.search(text) else None

    def base_of(self, path: Path, text: str) -> Program | None:
        """None for a file that declares all of its operators, as native_functions.yaml does."""
        base = self.path
        if base is None or path == base or not self._mark.search(text) or not base.is_file():
            return None

        status = base.stat()
        state = (status.st_mtime_ns, status.st_size)
        if state != self._state:
            self._program = read_program(base, Diagnostics(), dialect=self.target.dialect)
            self._state = state
        return self._program
