"""``generate``: writes the generated tree. A file with problems leaves the last good output unchanged."""

from __future__ import annotations

import argparse
import sys

from codegen.cli.loading import base_path, base_program, kind_of_file, load_program
from codegen.output import fingerprint
from codegen.target import FileKind, Target


def generate(options: argparse.Namespace) -> int:
    if options.output.exists() and not options.output.is_dir():
        print(f"{options.output}: it is a file; pass a folder: --output DIR", file=sys.stderr)
        return 1
    kind = kind_of_file(options)
    if kind is not None:
        return _generate_other(kind, options)
    base = base_path(options)
    target = _target(options)
    around = fingerprint.surroundings_digest(options.yaml, target, base)
    if fingerprint.is_made_from(options.output, fingerprint.with_declarations(around, options.yaml)):
        print(f"{options.output} is up to date")
        return 0
    from codegen.output import generation

    if base is None:
        report = generation.generate_file(options.yaml, target, options.output, around)
    else:
        report = generation.generate(load_program(options), target, options.output)
    print(f"{options.output}: {report}")
    return 0


def _target(options: argparse.Namespace) -> Target:
    target: Target = options.target
    if target.of_operators is None or options.operators is None:
        return target
    return target.of_operators(options.operators)


def _generate_other(kind: FileKind, options: argparse.Namespace) -> int:
    base = base_program(options)
    if base is None:
        print(
            f"pass the file with the operators: --library-of {options.target.declarations}", file=sys.stderr
        )
        return 1
    print(f"{options.output}: {kind.generate(options.yaml, base, options.output)}")
    return 0
