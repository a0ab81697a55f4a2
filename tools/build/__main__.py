"""python -m tools.build: brings the in-place build up to date."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from .configuration import Configuration, describe
from .errors import BuildError


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.build", description="Generates and compiles what has changed."
    )
    parser.add_argument(
        "--only",
        metavar="FILE",
        action="append",
        default=[],
        help="compile just this source file, for every instruction set",
    )
    parser.add_argument(
        "--objects-of",
        metavar="CHECKOUT",
        help="link objects that were compiled there; compile only what --compile names",
    )
    parser.add_argument("--compile", metavar="PREFIX", action="append", default=[], help="see --objects-of")
    library = parser.add_mutually_exclusive_group()
    library.add_argument("--cuda", action="store_true", help="also build the CUDA library, with nvcc")
    library.add_argument("--emulation", action="store_true", help="also build it for the emulation of a GPU")
    parser.add_argument(
        "--compile-commands",
        action="store_true",
        help="write build/compile_commands.json instead of building",
    )
    parser.add_argument(
        "--help-config", action="store_true", help="print the environment variables that the build reads"
    )
    options = parser.parse_args()

    if options.help_config:
        print(describe())
        return 0

    try:
        run(options)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; what was compiled so far is kept", file=sys.stderr)
        return 130
    return 0


def run(options: argparse.Namespace) -> None:
    from . import driver
    from .cuda import Target
    from .sources import Unit

    configuration = Configuration.from_environment()
    if options.compile_commands:
        print(f"wrote {driver.write_compile_commands(configuration)}")
        return

    if options.cuda or options.emulation:
        target: Target = "cuda" if options.cuda else "emulation"
        if not options.only:
            # Sanitizers are for the emulated library; the core that it is linked against stays as it is.
            driver.build(replace(configuration, sanitize="", cuda="0"))
        driver.build_cuda(configuration, target, tuple(options.only))
        return

    def foreign(unit: Unit) -> str:
        own = unit.source.startswith(tuple(options.compile))
        return "" if own else f"{options.objects_of}/{unit.object}"

    driver.build(configuration, tuple(options.only), foreign if options.objects_of else None)


if __name__ == "__main__":
    sys.exit(main())
