"""The command line of the generator.

Problems in a file go to standard error, one per line, and make the exit code 1.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from codegen.diagnostics import GenerationError


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    # A run makes many small objects and little garbage.
    collected = gc.isenabled()
    gc.disable()
    try:
        # Each command is imported when it runs: `generate` with nothing to do ends before pyyaml would be
        # loaded.
        name = options.command.replace("-", "_")
        return int(getattr(importlib.import_module(f"codegen.cli.{name}"), name)(options))
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:  # `explain add | head`
        # Python flushes standard output once more at exit, which would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:  # a folder that cannot be written, a file that cannot be read
        print(f"{error.filename or options.command}: {error.strerror or error}", file=sys.stderr)
        return 1
    finally:
        if collected:
            gc.enable()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m codegen", description="Generates C++ and Python from operator entries."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = _command(
        commands, "generate", "check the entries, then write everything that follows from them"
    )
    command.add_argument(
        "--output", type=Path, default=Path("build/generated"), metavar="DIR", help="default: %(default)s"
    )

    command.add_argument(
        "--operators",
        type=Path,
        metavar="LIST",
        help="a file of names: only these operators, and what they need, are to work",
    )

    command = _command(commands, "check", "report every problem in the entries; write nothing")
    command.add_argument(
        "--numeric",
        action="store_true",
        help="also compare the gradients of pointwise kernels with differences of their values, once built",
    )

    command = _command(
        commands, "lock", "write down what programs see of the entries: schemas, names and dtypes"
    )
    command.add_argument("--why", metavar="TEXT", help="the reason for changes that break programs")

    command = _command(commands, "select", "list the operators that a program calls, for a smaller build")
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

    command = _command(commands, "explain", "show all that follows from one entry")
    command.add_argument("operator", metavar="OP", help="add, add.Tensor or add_Tensor")
    command.add_argument(
        "--output", type=Path, default=Path("build/generated"), metavar="DIR", help="default: %(default)s"
    )

    command = _command(
        commands, "new", "write a new entry and the stubs of what it names, or those that an entry misses"
    )
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
    command.add_argument("--expr", help="a pointwise formula instead of a kernel")
    command.add_argument(
        "--cuda",
        action="store_true",
        help="also a kernel for CUDA; formulas and compositions need none",
    )
    command.add_argument(
        "--write", action="store_true", help="write into the files instead of to the terminal"
    )

    command = _command(
        commands,
        "import",
        "draft entries, derivatives included, from the declarations of an installed PyTorch",
    )
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
    command.set_defaults(command="import_entries")

    command = _command(
        commands, "new-package", "write a project with operators of its own, which pip can install"
    )
    command.add_argument("name", metavar="NAME", help="the Python package, such as softcap_ops")
    command.add_argument("--to", type=Path, metavar="DIR", help="the folder to write; default: NAME")
    command.add_argument("--operator", metavar="SCHEMA", help="the first operator; default: softcap")
    command.add_argument("--expr", help="its formula")

    command = _command(
        commands,
        "counts",
        "how many operators, functions, methods, formulas and gradients the entries declare",
    )
    command.add_argument("--markdown", action="store_true", help="print docs/counts.md")
    command.add_argument(
        "--cuda-fallbacks",
        action="store_true",
        help="print docs/cuda_fallbacks.md, the entries that run on the host for CUDA tensors",
    )

    command = _command(commands, "parity", "compare the entries with another file of PyTorch's format")
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
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
    command.set_defaults(command=name)

    command.add_argument(
        "--yaml",
        type=Path,
        default=Path("native_functions.yaml"),
        metavar="PATH",
        help="default: %(default)s",
    )
    command.add_argument(
        "--library-of",
        type=Path,
        metavar="PATH",
        help="the file that a library extends; default: the one next to this package",
    )

    return command
