"""The commands for authors of operators, in addition to those that every target has."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from pathlib import Path

from codegen.target import Command


def _command(
    name: str,
    summary: str,
    add_options: Callable[[argparse.ArgumentParser], None],
    function: str | None = None,
) -> Command:
    """The command whose function, with its name unless given, is in the module of the same name, which is
    imported when it runs."""
    function = function or name.replace("-", "_")

    def run(options: argparse.Namespace) -> int:
        module = importlib.import_module(f"codegen.targets.torch_py.cli.{function}")
        return int(getattr(module, function)(options))

    return Command(name, summary, run, add_options)


def _explain(command: argparse.ArgumentParser) -> None:
    command.add_argument("operator", metavar="OP", help="add, add.Tensor or add_Tensor")
    command.add_argument(
        "--output", type=Path, default=Path("build/generated"), metavar="DIR", help="default: %(default)s"
    )


def _new(command: argparse.ArgumentParser) -> None:
    command.add_argument("operator", metavar="OP", help="a name, or a whole schema in quotes")
    command.add_argument(
        "--topic", help="default: that of the entry most like it; another name makes a new topic"
    )
    command.add_argument(
        "--structure",
        metavar="WORD",
        help="pointwise, reduction, view, shaped, composite, dynamic or mutation; default: what the schema "
        "looks like",
    )

    command.add_argument("--expr", help="a formula instead of a kernel, for elements or for rows")
    command.add_argument(
        "--cuda",
        action="store_true",
        help="also a kernel for CUDA; formulas and compositions need none",
    )
    command.add_argument(
        "--write", action="store_true", help="write into the files instead of to the terminal"
    )


def _import(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "operators", nargs="+", metavar="NAME", help="aten::add.Tensor, or aten::add for all its overloads"
    )
    command.add_argument(
        "--from",
        dest="folder",
        type=Path,
        metavar="FOLDER",
        help="where native_functions.yaml and derivatives.yaml are; default: in the installed torch",
    )
    command.add_argument(
        "--write", action="store_true", help="write into the file instead of to the terminal"
    )


def _new_package(command: argparse.ArgumentParser) -> None:
    command.add_argument("name", metavar="NAME", help="the Python package, such as softcap_ops")
    command.add_argument("--to", type=Path, metavar="DIR", help="the folder to write; default: NAME")
    command.add_argument("--operator", metavar="SCHEMA", help="the first operator; default: softcap")
    command.add_argument("--expr", help="its formula")


def _counts(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--write",
        action="store_true",
        help="write docs/counts.md, and docs/cuda_fallbacks.md: what runs on the host for CUDA tensors",
    )


def _parity(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="a list of entries, of which func, variants and python_module are read",
    )

    command.add_argument(
        "--usage",
        type=Path,
        metavar="CSV",
        help="columns api, number_of_uses: sort by use, and sum up what is covered",
    )
    command.add_argument(
        "--module", metavar="NAME", help="a Python module that may define by hand what has no entry: torch_py"
    )
    command.add_argument("--markdown", action="store_true", help="print a table for the documentation")


def _select(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--from-run",
        nargs=argparse.REMAINDER,
        required=True,
        metavar="SCRIPT",
        help="a script, and its arguments",
    )

    command.add_argument(
        "--to", type=Path, default=Path("operators.txt"), metavar="LIST", help="default: %(default)s"
    )


def _schema(command: argparse.ArgumentParser) -> None:
    command.add_argument("--check", action="store_true", help="only report whether they are up to date")
    command.add_argument("--output", type=Path, metavar="DIR", help="default: next to the generator")


COMMANDS = (
    _command("explain", "show all that follows from one entry", _explain),
    _command("new", "write a new entry and the stubs of what it names, or those that an entry misses", _new),
    _command(
        "import",
        "draft entries, derivatives included, from the declarations of an installed PyTorch",
        _import,
        "import_entries",
    ),
    _command("new-package", "write a project with operators of its own, which pip can install", _new_package),
    _command(
        "counts",
        "how many operators, functions, methods, formulas and gradients the entries declare",
        _counts,
    ),
    _command(
        "schema", "write the JSON schemas with which editors check and complete the YAML files", _schema
    ),
    _command("select", "list the operators that a program calls, for a smaller build", _select),
    _command("parity", "compare the entries with another file of PyTorch's format", _parity),
)
