"""``check``: reports every problem, and what entries write although it follows anyway."""

from __future__ import annotations

import argparse

from codegen.cli.loading import base_program, is_backend_file, load_program
from codegen.diagnostics import Diagnostics, GenerationError


def check(options: argparse.Namespace) -> int:
    if is_backend_file(options.yaml):
        return _check_backend(options)

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


def _check_backend(options: argparse.Namespace) -> int:
    from codegen.backends import read_backend

    base = base_program(options)
    assert base is not None, "a backend is for the operators of another file"
    backend = read_backend(options.yaml, base)
    print(f"{backend.file}: {len(backend.kernels)} kernels for '{backend.name}', no problems")
    return 0
