"""python -m tools.programs [NAME...]: runs packages from PyPI under PyTorch and torch_py, and compares.

To be started with a Python that has the packages and PyTorch. Without names all are tried, and
docs/programs.md is written.
"""

from __future__ import annotations

import argparse
import sys

from .running import ROOT, Outcome, try_program
from .table import PROGRAMS

HEADER = """# Programs

These packages from PyPI use PyTorch, and run unmodified under `python -m torch_py.as_torch`. For each of
them, a script in `tools/programs/scripts/` calls its public functions, forward and backward, trains for a few
steps and prints numbers. A package passes if they are the numbers that the script prints under PyTorch. This
command wrote the page:

```sh
python -m tools.programs --help
```

| package | version | passed under torch | passed under torch_py | what is missing |
|---|---|---|---|---|
"""
WORDS = {True: "yes", False: "no", None: "-"}


def row(outcome: Outcome) -> str:
    problem = outcome.problem.replace("|", "\\|")
    cells = (
        outcome.program.package,
        outcome.version or "-",
        WORDS[outcome.under_torch],
        WORDS[outcome.under_torch_py],
        problem,
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.programs")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="packages; default: all, and the table is written"
    )
    parser.add_argument(
        "--torchvision", metavar="DIR", help="where torchvision is installed, for the packages that need it"
    )
    options = parser.parse_args()

    if unknown := set(options.names) - {program.package for program in PROGRAMS}:
        parser.error(
            f"unknown packages: {', '.join(sorted(unknown))}; there are "
            f"{', '.join(program.package for program in PROGRAMS)}"
        )

    rows = []
    for program in PROGRAMS:
        if options.names and program.package not in options.names:
            continue
        outcome = try_program(program, options.torchvision)
        rows.append(row(outcome))
        print(rows[-1], flush=True)

    if not options.names:
        (ROOT / "docs/programs.md").write_text(HEADER + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
