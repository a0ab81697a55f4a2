"""python -m tools.benchmark [calls | build | package] [--json FILE] ...: `calls` when nothing is named."""

from __future__ import annotations

import sys

from . import build_times, call_overhead, package_cost

COMMANDS = {"calls": call_overhead.main, "build": build_times.main, "package": package_cost.main}


def main() -> int:
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        print(f"{__doc__}\n\n  calls    {call_overhead.__doc__}\n  build    {build_times.__doc__}\n  package  {package_cost.__doc__}")
        return 0
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "calls"
    return COMMANDS[name](arguments)


if __name__ == "__main__":
    sys.exit(main())
