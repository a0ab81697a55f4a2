"""``generate``: checks first, so that a file with problems leaves the last good output as it was."""

from __future__ import annotations

import argparse

from codegen.emit import fingerprint


def generate(options: argparse.Namespace) -> int:
    if fingerprint.is_current(options.output, options.yaml, options.yaml.parent):
        print(f"{options.output} is up to date")
        return 0
    from codegen.cli.loading import load_program
    from codegen.emit import generate as write

    print(f"{options.output}: {write(load_program(options), options.output)}")
    return 0
