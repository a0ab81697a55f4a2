"""python -m tools.names: which names of PyTorch are here, as a table; with --uses, which names programs use.

To be started with a Python that has PyTorch. The table goes to build/docs/names.md, its summary to the
terminal. `--uses FOLDER... --table uses.csv` instead writes the names that the programs in the folders import
and those of the table to tests/torch_py/names_in_use.txt, whose test fails when one is absent.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from .lookup import ABSENT, REFUSES, WORKS, look_up
from .peer import public_names
from .uses import is_wanted, names_in_folder, names_in_table

ROOT = Path(__file__).resolve().parent.parent.parent
LIST = ROOT / "tests/torch_py/names_in_use.txt"
REPORT = ROOT / "build/docs/names.md"
COLUMNS = (WORKS, REFUSES, ABSENT)
_HEAD = "# Names\n\nEvery public name of PyTorch, every name that programs use, and what it is in torch_py.\n"
_NOTE = (
    "# The names of PyTorch that programs use: each can be imported from torch_py.\n"
    "# Written by `python -m tools.names --uses`, which CONTRIBUTING.md explains.\n"
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.names")
    parser.add_argument("--uses", nargs="+", type=Path, metavar="FOLDER", help="folders of Python programs")
    parser.add_argument("--table", type=Path, metavar="FILE", help="a table with the columns api and kind")
    options = parser.parse_args()
    warnings.simplefilter("ignore")

    if options.uses or options.table:
        write_list(options.uses or [], options.table)
        return 0
    return write_report()


def write_list(folders: list[Path], table: Path | None) -> None:
    """Writes the names that are in use and that PyTorch has."""
    found = set() if table is None else names_in_table(table)
    for folder in folders:
        found |= names_in_folder(folder)
    wanted = sorted(name for name in found if is_wanted(name) and look_up(name, "torch").status != ABSENT)
    LIST.write_text(_NOTE + "\n".join(wanted) + "\n")
    print(f"{len(wanted)} names in {LIST.relative_to(ROOT)}")


def names_in_use() -> list[str]:
    """The names in the list that is part of the repository."""
    return [line for line in LIST.read_text().splitlines() if not line.startswith("#")]


def write_report() -> int:
    used = set(names_in_use())
    names = sorted(used | set(public_names()))
    statuses = {name: look_up(name, "torch_py").status for name in names}

    rows = [f"| `{name}` | {statuses[name]} | {'yes' if name in used else ''} |" for name in names]
    summary = [*_summary("public", statuses, set(names) - used), *_summary("in use", statuses, used)]

    REPORT.parent.mkdir(parents=True, exist_ok=True)
    table = ["| name | here | in use |", "|---|---|---|", *rows]
    REPORT.write_text("\n".join([_HEAD, *summary, "", *table]) + "\n")
    print("\n".join(summary))
    return int(any(statuses[name] == ABSENT for name in used))


def _summary(kind: str, statuses: dict[str, str], names: set[str]) -> list[str]:
    counts = [sum(statuses[name] == column for name in names) for column in COLUMNS]
    parts = ", ".join(f"{count} {column}" for count, column in zip(counts, COLUMNS))
    return [f"{len(names)} names {kind}: {parts}"]


if __name__ == "__main__":
    sys.exit(main())
