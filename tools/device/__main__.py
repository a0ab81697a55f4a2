"""`python -m tools.device prepare` where one builds, `check` where the GPU is, then `report`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import bundle, report, stages


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.device", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    prepare = commands.add_parser("prepare", help="build, and pack what was built")
    prepare.add_argument("--no-cuda", action="store_true", help="leave the kernels to `check --build`")
    prepare.add_argument("--python", default=sys.executable, help="the Python that runs the check")

    check = commands.add_parser("check", help="unpack, and run the stages")
    check.add_argument("--build", action="store_true", help="first compile the kernels, with this nvcc")
    check.add_argument("--results", type=Path, default=Path("build/device-results"), help="a folder for logs")
    check.add_argument("--seconds", type=float, default=540, help="for all stages together")
    check.add_argument("stages", nargs="*", metavar="STAGE", help=f"some of {', '.join(stages.STAGES)}")

    page = commands.add_parser("report", help="print docs/device.md from the results of a check")
    page.add_argument("results", type=Path)

    options = parser.parse_args()
    if options.command == "report":
        print(*report.lines(options.results), sep="\n")
        return 0
    if options.command == "prepare":
        bundle.prepare(options.python, with_cuda=not options.no_cuda)
        return 0

    bundle.unpack()
    if options.build:
        bundle.build_cuda()
    return stages.run(options.stages or list(stages.STAGES), options.results, options.seconds)


if __name__ == "__main__":
    sys.exit(main())
