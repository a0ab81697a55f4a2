"""python -m tools.lint [--fix] [CHECK...]; --help lists the checks."""

from __future__ import annotations

import argparse
import sys

from . import (
    formatting,
    includes,
    kernels,
    layering,
    operator_lists,
    paragraphs,
    references,
    text,
    types,
    voice,
)

CHECKS = {
    "layering": layering.check,
    "includes": includes.check,
    "kernels": kernels.check,
    "operator_lists": operator_lists.check,
    "text": text.check,
    "paragraphs": paragraphs.check,
    "references": references.check,
    "voice": voice.check,
    "formatting": formatting.check,
    "types": types.check,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.lint", description="One line per failure that says how to fix it."
    )
    parser.add_argument(
        "checks", nargs="*", metavar="CHECK", help=f"{', '.join(CHECKS)}; default: all of them"
    )
    parser.add_argument("--fix", action="store_true", help="fix what needs no decision")
    options = parser.parse_args()

    unknown = set(options.checks) - set(CHECKS)
    if unknown:
        parser.error(f"no check {', '.join(sorted(unknown))}; there are {', '.join(CHECKS)}")

    if options.fix:
        text.fix()
        references.fix()
        formatting.fix()
        return 0

    count = 0
    for name in options.checks or CHECKS:
        for finding in sorted(set(CHECKS[name]())):
            print(f"{finding} [{name}]")
            count += 1

    print(f"lint: {count} to fix" if count else "lint: nothing to fix")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
