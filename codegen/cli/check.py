"""``check``: every problem, or their absence."""

from __future__ import annotations

import argparse

from codegen.cli.loading import load_program


def check(options: argparse.Namespace) -> int:
    program = load_program(options)
    entries, topics = len(program.operators), len(program.topics)
    print(f"{program.file}: {entries} operators in {topics} topics, no problems")
    return 0
