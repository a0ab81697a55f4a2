"""``check``: reports every problem, what entries write although it follows anyway, and unfinished drafts."""

from __future__ import annotations

import argparse
import sys

from codegen.cli.loading import base_program, kind_of_file, load_program
from codegen.diagnostics import Diagnostics, GenerationError
from codegen.target import FileKind


def check(options: argparse.Namespace) -> int:
    kind = kind_of_file(options)
    if kind is not None:
        return _check_other(kind, options)

    program = load_program(options)
    from codegen.cli.lock import check_lock
    from codegen.model.checks.drafts import unwritten
    from codegen.model.checks.redundant import redundancies

    for optional in options.target.checks:
        if getattr(options, optional.name):
            optional.run(program)

    problems = Diagnostics()
    for diagnostic in (*redundancies(program), *unwritten(program)):
        problems.add(diagnostic)
    if problems:
        raise GenerationError(problems)

    check_lock(program)
    entries = len(program.operators)
    topics = len(program.topics)
    print(f"{program.file}: {entries} operators in {topics} topics, no problems")
    for remark in options.target.remarks(program):
        print(remark)
    return 0


def _check_other(kind: FileKind, options: argparse.Namespace) -> int:
    base = base_program(options)
    if base is None:
        wanted = options.target.declarations
        print(f"pass the file with the operators: --library-of {wanted}", file=sys.stderr)
        return 1
    print(f"{options.yaml.name}: {kind.check(options.yaml, base, None)}, no problems")
    return 0
