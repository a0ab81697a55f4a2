"""Finds and loads the files that a command works on.

``codegen.model`` is imported only when something is loaded, so that ``generate`` with nothing to do is quick.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.target import FileKind, Target

if TYPE_CHECKING:
    from codegen.model import Program

_LIBRARY = "library"


def load_program(options: argparse.Namespace) -> Program:
    """The program of ``--yaml``, extending that of ``--library-of`` when it declares a library."""
    from codegen.model import load

    return load(options.yaml, base_program(options), dialect=options.target.dialect)


def base_program(options: argparse.Namespace) -> Program | None:
    """The program that the file extends; None for one that extends nothing."""
    from codegen.model import load

    path = base_path(options)
    return None if path is None else load(path, dialect=options.target.dialect)


def base_path(options: argparse.Namespace) -> Path | None:
    """The file that declares what ``--yaml`` extends."""
    target: Target = options.target
    path: Path | None = options.library_of
    if path is None and _marked(options.yaml, _LIBRARY, *target.file_kinds):
        path = target.base if target.base is not None and target.base.is_file() else None
    return path


def kind_of_file(options: argparse.Namespace) -> FileKind | None:
    """What kind of file the target reads ``--yaml`` as; None for operators."""
    target: Target = options.target
    return next((kind for key, kind in target.file_kinds.items() if _marked(options.yaml, key)), None)


def _marked(path: Path, *keys: str) -> bool:
    """Whether the file has one of the keys at its top."""
    # A line break is found much faster than the start of a line.
    mark = rf"\n({'|'.join(keys)})\s*:".encode()
    return path.is_file() and re.search(mark, b"\n" + path.read_bytes()) is not None
