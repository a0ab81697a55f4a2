"""``generate``: writes the generated tree. A file with problems leaves the last good output unchanged."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from codegen.cli.loading import base_path, base_program, is_backend_file, load_program
from codegen.emit import fingerprint

if TYPE_CHECKING:
    from codegen.model import Program


def generate(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.output.is_dir():
        print(f"{options.output}: it is a file; pass a folder: --output DIR", file=sys.stderr)
        return 1
    if is_backend_file(options.yaml):
        return _generate_backend(options)
    if fingerprint.is_current(options.output, options.yaml, base_path(options), options.operators):
        print(f"{options.output} is up to date")
        return 0
    from codegen.emit import generate as write

    program = load_program(options)
    selected = None if options.operators is None else _selected(program, options.operators)
    report = write(program, options.output, selected=selected, selection=options.operators)
    print(f"{options.output}: {report}")
    return 0


def _selected(program: Program, names: Path) -> frozenset[str]:
    """The operators of a list, and all that they need."""
    from codegen.analysis.implied_operators import expand
    from codegen.selection.closure import closure
    from codegen.selection.names import read_names

    found = closure(expand(program), read_names(names, program), Path(program.path).resolve().parent)
    print(f"{names}: {len(found)} operators are to work, with those that they need")
    return found


def _generate_backend(options: argparse.Namespace) -> int:
    from codegen.backends import generate_backend, read_backend

    base = base_program(options)
    if base is None:
        print("pass the file with the operators: --library-of native_functions.yaml", file=sys.stderr)
        return 1
    print(f"{options.output}: {generate_backend(read_backend(options.yaml, base), options.output)}")
    return 0
