"""Finds the files that a command works on."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import codegen
from codegen.model import Program, load

_LIBRARY = re.compile(rb"^library\s*:", re.MULTILINE)


def load_program(options: argparse.Namespace) -> Program:
    """The program of ``--yaml``, extending that of ``--library-of`` when it declares a library."""
    return load(options.yaml, base_program(options))


def base_program(options: argparse.Namespace) -> Program | None:
    """What the file extends; None in the tree."""
    path: Path | None = options.library_of
    if path is None and _is_library(options.yaml):
        beside = Path(codegen.__file__).resolve().parent.parent / "native_functions.yaml"
        path = beside if beside.is_file() else None
    return None if path is None else load(path)


def _is_library(path: Path) -> bool:
    return path.is_file() and _LIBRARY.search(path.read_bytes()) is not None
