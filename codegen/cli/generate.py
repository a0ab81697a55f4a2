"""``generate``: writes the generated tree. A file with problems leaves the last good output unchanged."""

from __future__ import annotations

import argparse
import sys

from codegen.cli.loading import base_path, base_program, is_backend_file, load_program
from codegen.output import fingerprint


def generate(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.output.is_dir():
        print(f"{options.output}: it is a file; pass a folder: --output DIR", file=sys.stderr)
        return 1
    if is_backend_file(options.yaml):
        return _generate_backend(options)
    if fingerprint.is_current(options.output, options.yaml, base_path(options)):
        print(f"{options.output} is up to date")
        return 0
    from codegen.targets.torch_py.emit import generate as write

    print(f"{options.output}: {write(load_program(options), options.output)}")
    return 0


def _generate_backend(options: argparse.Namespace) -> int:
    from codegen.targets.torch_py.backends import generate_backend, read_backend

    base = base_program(options)
    if base is None:
        print("pass the file with the operators: --library-of native_functions.yaml", file=sys.stderr)
        return 1
    print(f"{options.output}: {generate_backend(read_backend(options.yaml, base), options.output)}")
    return 0
