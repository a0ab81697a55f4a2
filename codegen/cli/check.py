"""``check``: reports every problem, what entries write although it follows anyway, and unfinished drafts."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from codegen.cli.loading import base_program, is_backend_file, load_program
from codegen.diagnostics import Diagnostics, GenerationError

if TYPE_CHECKING:
    from codegen.model import Program


def check(options: argparse.Namespace) -> int:
    if is_backend_file(options.yaml):
        return _check_backend(options)

    program = load_program(options)
    from codegen.cli.lock import check_lock
    from codegen.model.checks.drafts import unwritten
    from codegen.model.checks.redundant import redundancies

    if options.numeric:
        _check_kernels(program)

    problems = Diagnostics()
    for diagnostic in (*redundancies(program), *unwritten(program)):
        problems.add(diagnostic)
    if problems:
        raise GenerationError(problems)

    check_lock(program)
    entries = len(program.operators)
    topics = len(program.topics)
    print(f"{program.file}: {entries} operators in {topics} topics, no problems")
    return 0


def _check_backend(options: argparse.Namespace) -> int:
    from codegen.targets.torch_py.backends import read_backend

    base = base_program(options)
    assert base is not None, "a backend is for the operators of another file"
    backend = read_backend(options.yaml, base)
    print(f"{backend.file}: {len(backend.kernels)} kernels for '{backend.name}', no problems")
    return 0


def _check_kernels(program: Program) -> None:
    """Compares the gradients of pointwise kernels with their values, which takes a build."""
    from codegen.targets.torch_py.cli.numeric import check_kernels

    problems = Diagnostics()
    compared, skipped = check_kernels(program, problems)
    print(f"{compared} pointwise kernels compared with their gradients")
    for reason in skipped:
        print(f"not compared: {reason}")
    if problems:
        raise GenerationError(problems)
