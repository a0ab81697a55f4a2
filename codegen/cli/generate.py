"""``generate``: writes the generated tree. A file with problems leaves the last good output unchanged."""

from __future__ import annotations

import argparse
import sys

from codegen.cli.loading import base_path, base_program, kind_of_file, load_program
from codegen.output import fingerprint
from codegen.target import FileKind


def generate(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.output.is_dir():
        print(f"{options.output}: it is a file; pass a folder: --output DIR", file=sys.stderr)
        return 1
    kind = kind_of_file(options)
    if kind is not None:
        return _generate_other(kind, options)
    if fingerprint.is_current(options.output, options.yaml, options.target, base_path(options)):
        print(f"{options.output} is up to date")
        return 0
    from codegen.output.generation import generate as write

    print(f"{options.output}: {write(load_program(options), options.target, options.output)}")
    return 0


def _generate_other(kind: FileKind, options: argparse.Namespace) -> int:
    base = base_program(options)
    if base is None:
        print(
            f"pass the file with the operators: --library-of {options.target.declarations}", file=sys.stderr
        )
        return 1
    print(f"{options.output}: {kind.generate(options.yaml, base, options.output)}")
    return 0
