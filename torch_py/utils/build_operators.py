"""Builds a library of operators from the command line: python -m torch_py.utils.build_operators FILE.yaml."""

from __future__ import annotations

import argparse
import sys

from .cpp_extension import build_operators


def main() -> int:
    """Runs the command and returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m torch_py.utils.build_operators")
    parser.add_argument("declarations", metavar="FILE.yaml")
    parser.add_argument("--output", metavar="DIR", help="default: build/FILE next to FILE.yaml")
    options = parser.parse_args()

    try:
        module = build_operators(options.declarations, options.output)
    except (FileNotFoundError, RuntimeError) as error:
        print(error, file=sys.stderr)
        return 1
    print(f"built {module.__file__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
