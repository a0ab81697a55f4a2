"""``check``: reports every problem, and what entries write although it follows anyway."""

from __future__ import annotations

import argparse

from codegen.cli.loading import load_program
from codegen.diagnostics import Diagnostics, GenerationError


def check(options: argparse.Namespace) -> int:
    program = load_program(options)
    from codegen.model.checks.redundant import redundancies

    redundant = Diagnostics()
    for diagnostic in redundancies(program):
        redundant.add(diagnostic)
    if redundant:
        raise GenerationError(redundant)

    entries = len(program.operators)
    topics = len(program.topics)
    print(f"{program.file}: {entries} operators in {topics} topics, no problems")
    return 0
