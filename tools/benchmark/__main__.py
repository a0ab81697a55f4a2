"""python -m tools.benchmark [NAME] ...: runs one of the benchmarks below, `calls` by default."""

from __future__ import annotations

import sys

from . import (
    build_times,
    busy_cores,
    call_overhead,
    compiling,
    dataloader,
    editor,
    memory,
    operators,
    optimizer_steps,
    package_cost,
    scaling,
    speed,
    training_steps,
)

MODULES = {
    "calls": call_overhead,
    "build": build_times,
    "busy": busy_cores,
    "compile": compiling,
    "dataloader": dataloader,
    "editor": editor,
    "memory": memory,
    "operators": operators,
    "optimizers": optimizer_steps,
    "package": package_cost,
    "scaling": scaling,
    "speed": speed,
    "training": training_steps,
}
COMMANDS = {name: module.main for name, module in MODULES.items()}


def main() -> int:
    arguments = sys.argv[1:]
    if arguments and arguments[0] in ("-h", "--help"):
        print(
            "\n".join(
                [f"{__doc__}\n", *(f"  {name:10}  {module.__doc__}" for name, module in MODULES.items())]
            )
        )
        return 0
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else "calls"
    return COMMANDS[name](arguments)


if __name__ == "__main__":
    sys.exit(main())
