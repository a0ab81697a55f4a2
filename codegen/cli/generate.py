"""``generate``: writes the generated tree. A file with problems leaves the last good output unchanged."""

from __future__ import annotations

import argparse
import sys

from codegen.cli.loading import base_path, load_program
from codegen.emit import fingerprint


def generate(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.output.is_dir():
        print(f"{options.output}: it is a file; pass a folder: --output DIR", file=sys.stderr)
        return 1
    if fingerprint.is_current(options.output, options.yaml, base_path(options)):
        print(f"{options.output} is up to date")
        return 0
    from codegen.emit import generate as write

    print(f"{options.output}: {write(load_program(options), options.output)}")
    return 0
