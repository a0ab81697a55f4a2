"""Which files the server answers for, and the programs that they extend."""

from __future__ import annotations

import re
from pathlib import Path

import codegen
from codegen.diagnostics import Diagnostics
from codegen.model import Program, read_program

TREE = "native_functions.yaml"
_LIBRARY = re.compile(r"^library *:", re.MULTILINE)
_BACKEND = re.compile(r"^backend *:", re.MULTILINE)

OPERATORS = "operators"
BACKEND = "backend"


def kind_of_file(path: Path, text: str) -> str | None:
    """``operators`` or ``backend``; None for any other YAML, such as the operators of another target."""
    if path.name == TREE:
        return OPERATORS
    if _BACKEND.search(text):
        return BACKEND
    return OPERATORS if _LIBRARY.search(text) else None


class Bases:
    """The program that libraries and backends extend, read again when its file has changed."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or Path(codegen.__file__).resolve().parent.parent / TREE
        self._program: Program | None = None
        self._state: tuple[int, int] | None = None

    def known(self, text: str) -> Program | None:
        """The base of a text, if it has been read already."""
        return self._program if _LIBRARY.search(text) or _BACKEND.search(text) else None

    def base_of(self, path: Path, text: str) -> Program | None:
        """None for a file that declares all of its operators, as native_functions.yaml does."""
        is_extension = _LIBRARY.search(text) or _BACKEND.search(text)
        if not is_extension or path == self.path or not self.path.is_file():
            return None

        status = self.path.stat()
        state = (status.st_mtime_ns, status.st_size)
        if state != self._state:
            self._program = read_program(self.path, Diagnostics())
            self._state = state
        return self._program
