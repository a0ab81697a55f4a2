#!/usr/bin/env python3
"""Runs a compiler and adds to the file $TORCH_PY_COSTS a line: processor seconds and the object.

ccache starts it as its prefix command, so that what ccache had is not measured.
"""

import os
import resource
import subprocess
import sys


def main() -> int:
    command = sys.argv[1:]
    status = subprocess.run(command).returncode

    if status == 0 and "-o" in command:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        made = command[command.index("-o") + 1]
        with open(os.environ["TORCH_PY_COSTS"], "a") as costs:
            costs.write(f"{used.ru_utime + used.ru_stime:.1f} {made}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
