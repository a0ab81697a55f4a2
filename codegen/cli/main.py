"""The command line of the generator.

Problems in a file go to standard error, one per line, and make the exit code 1.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from codegen.diagnostics import GenerationError
from codegen.target import Target, UnknownTargetError, default_target, find_target


def main(arguments: Sequence[str] | None = None) -> int:
    try:
        target = _target(arguments)
    except UnknownTargetError as error:
        print(error, file=sys.stderr)
        return 1

    options = _parser(target).parse_args(arguments)
    options.target = target
    # A run makes many small objects and little garbage.
    collected = gc.isenabled()
    gc.disable()
    try:
        return int(options.run(options))
    except GenerationError as error:
        print(error, file=sys.stderr)
        return 1
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        place = f"{_file_of(error) or f'{options.command}: a file'}:{line}"
        print(f"{place}: the line is not valid UTF-8; save the file as UTF-8", file=sys.stderr)
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


def _file_of(error: UnicodeDecodeError) -> Path | None:
    """The file that was read, which the error does not name: that of the last ``Path.read_text``."""
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        own = frame.f_locals.get("self")
        if frame.f_code.co_name == "read_text" and isinstance(own, Path):
            found = own
    return found


def _target(arguments: Sequence[str] | None) -> Target:
    """The target that the commands are for, which the rest of the command line depends on."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--target")
    name = parser.parse_known_args(arguments)[0].target
    return default_target() if name is None else find_target(name)


def _parser(target: Target) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m codegen", description="Generates code and documentation from operator entries."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, summary: str, run: Callable[[argparse.Namespace], int]) -> argparse.ArgumentParser:
        command: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
        command.set_defaults(command=name, run=run)
        _add_common_options(command, target)
        return command

    command = add("generate", "check the entries, then write everything that follows from them", _generate)
    command.add_argument(
        "--output", type=Path, default=Path("build/generated"), metavar="DIR", help="default: %(default)s"
    )

    if target.of_operators is not None:
        command.add_argument(
            "--operators",
            type=Path,
            metavar="LIST",
            help="a file of names: only these operators, and what they need, are to work",
        )

    command = add("check", "report every problem in the entries; write nothing", _check)
    for check in target.checks:
        command.add_argument(f"--{check.name}", action="store_true", help=check.summary)

    command = add("lock", "write down what programs see of the entries: schemas, names and dtypes", _lock)
    command.add_argument("--why", metavar="TEXT", help="the reason for changes that break programs")

    add("lsp", "serve editors: a language server over standard input and output", _lsp)
    for own in target.commands:
        own.add_options(add(own.name, own.summary, own.run))
    return parser


def _add_common_options(command: argparse.ArgumentParser, target: Target) -> None:
    command.add_argument(
        "--target",
        metavar="NAME",
        help=f"what is generated, here {target.name}: a target that is installed, or module:NAME",
    )

    command.set_defaults(is_yaml_given=False)
    command.add_argument(
        "--yaml",
        action=_StoreYaml,
        type=Path,
        default=Path(target.declarations),
        metavar="PATH",
        help="default: %(default)s",
    )

    default = "" if target.base is None else f"; default: {target.base.name} of {target.name}"
    command.add_argument(
        "--library-of",
        type=Path,
        metavar="PATH",
        help=f"the file that a library extends{default}",
    )


class _StoreYaml(argparse.Action):
    """Commands that write may ask whether the file was named or is the default."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option: str | None = None,
    ) -> None:
        namespace.yaml = values
        namespace.is_yaml_given = True


# Each command is imported when it runs: `generate` with nothing to do ends before pyyaml would be loaded.


def _generate(options: argparse.Namespace) -> int:
    return int(importlib.import_module("codegen.cli.generate").generate(options))


def _check(options: argparse.Namespace) -> int:
    return int(importlib.import_module("codegen.cli.check").check(options))


def _lock(options: argparse.Namespace) -> int:
    return int(importlib.import_module("codegen.cli.lock").lock(options))


def _lsp(options: argparse.Namespace) -> int:
    return int(importlib.import_module("codegen.cli.lsp").lsp(options))
