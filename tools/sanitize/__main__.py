"""Builds with sanitizers, runs tests and the fuzzer, and shows what the sanitizers report."""

from __future__ import annotations

import argparse
import shutil
import sys
import time

from . import emulation
from .emulation import Emulation
from .reports import findings
from .tree import Tree

LINES_OF_A_REPORT = 14
# Arguments of the interpreter. The core is what a few minutes allow.
PROGRAMS = {
    False: (
        ["-m", "pytest", "-q", "tests/c10", "tests/aten", "tests/ops", "tests/torch_py"],
        ["-m", "tools.fuzz", "--seconds", "120", "--seed", "1"],
    ),
    True: (
        [
            "-m",
            "pytest",
            "-q",
            "tests/smoke_test.py",
            "tests/torch_py/test_hostile_sizes.py",
            "tests/torch_py/test_edge_arguments.py",
            "tests/torch_py/test_indexing.py",
            "tests/torch_py/test_integer_overflow.py",
            "tests/torch_py/test_storage.py",
        ],
        ["-m", "tools.fuzz", "--seconds", "20", "--seed", "1"],
    ),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.sanitize", description=__doc__)
    parser.add_argument("--kinds", default="address,undefined", help="as in TORCH_PY_SANITIZE (%(default)s)")
    parser.add_argument("--core", action="store_true", help="instrument, build and run only the core")
    parser.add_argument(
        "--cuda", action="store_true", help="instrument the CUDA library instead, and emulate a GPU"
    )
    parser.add_argument(
        "--parts",
        type=int,
        default=1,
        metavar="N",
        help="with --cuda: run one of N parts of the operators, another one after each commit",
    )
    parser.add_argument("--build-only", action="store_true", help="do not run anything")
    parser.add_argument(
        "program", nargs="*", help="what Python is to run instead, after --: -- -m pytest tests/ops -k sum"
    )
    options = parser.parse_args()

    emulated = Emulation(options.kinds, parts=options.parts) if options.cuda else None
    tree = emulated or Tree(options.kinds, options.core)
    tree.build()
    if options.build_only:
        return 0

    shutil.rmtree(tree.reports, ignore_errors=True)
    tree.reports.mkdir(parents=True)
    default = (emulation.PROGRAM,) if options.cuda else PROGRAMS[options.core]
    programs = [options.program] if options.program else default
    started = time.monotonic()
    failed = [" ".join(program) for program in programs if tree.run(program) != 0]

    found = findings(tree.reports)
    for name, (count, text) in found.items():
        print(f"\n{name} ({count} times)")
        print("\n".join(text.splitlines()[:LINES_OF_A_REPORT]))

    about = f" ({emulated.summary(emulated.environment())})" if emulated else ""
    seconds = time.monotonic() - started
    print(f"\nsanitizers: {len(found)} findings in {seconds:.0f} s{about}; the reports are in {tree.reports}")
    for program in failed:
        print(f"failed: python {program}")
    return 1 if found or failed else 0


if __name__ == "__main__":
    sys.exit(main())
