"""``check``: reports every problem, what entries write although it follows anyway, and unfinished drafts."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from codegen.cli.loading import base_program, kind_of_file
from codegen.diagnostics import Diagnostics, GenerationError
from codegen.target import FileKind

if TYPE_CHECKING:
    from codegen.model import Program


def check(options: argparse.Namespace) -> int:
    kind = kind_of_file(options)
    if kind is not None:
        return _check_other(kind, options)

    from codegen.model import read_program

    problems = Diagnostics()
    program = read_program(options.yaml, problems, base_program(options), dialect=options.target.dialect)
    if program is not None:
        problems.update(_of_whole_entries(program, problems))
    if program is None or problems:
        raise GenerationError(problems)

    for optional in options.target.checks:
        if getattr(options, optional.name):
            optional.run(program)
    entries = len(program.operators)
    topics = len(program.topics)
    print(f"{program.file}: {entries} operators in {topics} topics, no problems")
    for remark in options.target.remarks(program):
        print(remark)
    return 0


def _of_whole_entries(program: Program, earlier: Diagnostics) -> Diagnostics:
    """Problems that only entries without other problems can have: others may follow from the first ones."""
    from codegen.cli.lock import lock_problems
    from codegen.model.checks.drafts import unwritten
    from codegen.model.checks.redundant import redundancies

    broken = {problem.operator for problem in earlier.sorted()}
    found = Diagnostics()
    for problem in (*redundancies(program), *unwritten(program), *lock_problems(program)):
        base_name = problem.operator.partition(".")[0]
        if problem.operator not in broken and base_name not in program.broken:
            found.add(problem)
    return found


def _check_other(kind: FileKind, options: argparse.Namespace) -> int:
    base = base_program(options)
    if base is None:
        wanted = options.target.declarations
        print(f"pass the file with the operators: --library-of {wanted}", file=sys.stderr)
        return 1
    print(f"{options.yaml.name}: {kind.check(options.yaml, base, None)}, no problems")
    return 0
