"""python -m tools.benchmark [calls | build | optimizers | package] [--json FILE] ...: `calls` when nothing is named."""

from __future__ import annotations

import sys

from . import build_times, call_overhead, optimizer_steps, package_cost

COMMANDS = {"calls": call_overhead.main, "build": build_times.main, "optimizers": optimizer_steps.main, "package": package_cost.main}


def main() -> int:
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        modules = {"calls": call_overhead, "build": build_times, "optimizers": optimizer_steps, "package": package_cost}
        print("\n".join([f"{__doc__}\n", *(f"  {name:10}  {module.__doc__}" for name, module in modules.items())]))
        return 0
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "calls"
    return COMMANDS[name](arguments)


if __name__ == "__main__":
    sys.exit(main())
