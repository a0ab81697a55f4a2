"""Finds and loads the files that a command works on.

``codegen.model`` is imported only when something is loaded, so that ``generate`` with nothing to do is quick.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import codegen

if TYPE_CHECKING:
    from codegen.model import Program

_LIBRARY = re.compile(rb"^(library|backend)\s*:", re.MULTILINE)
_BACKEND = re.compile(rb"^backend\s*:", re.MULTILINE)


def load_program(options: argparse.Namespace) -> Program:
    """The program of ``--yaml``, extending that of ``--library-of`` when it declares a library."""
    from codegen.model import load

    return load(options.yaml, base_program(options))


def base_program(options: argparse.Namespace) -> Program | None:
    """The program that the file extends; None for native_functions.yaml itself."""
    from codegen.model import load

    path = base_path(options)
    return None if path is None else load(path)


def base_path(options: argparse.Namespace) -> Path | None:
    """The file that declares what ``--yaml`` extends."""
    path: Path | None = options.library_of
    if path is None and _is_library(options.yaml):
        own = Path(codegen.__file__).resolve().parent.parent / "native_functions.yaml"
        path = own if own.is_file() else None
    return path


def is_backend_file(path: Path) -> bool:
    """Whether the file gives kernels for a device to existing operators, instead of declaring operators."""
    return path.is_file() and _BACKEND.search(path.read_bytes()) is not None


def _is_library(path: Path) -> bool:
    return path.is_file() and _LIBRARY.search(path.read_bytes()) is not None
