"""Runs the command line: ``python -m codegen``."""

from codegen.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
