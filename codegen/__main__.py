"""Runs the command line: ``python -m codegen``."""

import os
import sys

from codegen.cli.main import main

if __name__ == "__main__":
    status = main()
    try:
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()
    except BrokenPipeError:
        status = 1
    # Python would free every object by itself at its end, which takes a tenth of a short run.
    os._exit(status)
