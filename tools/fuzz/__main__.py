"""Calls every operator with hostile arguments and reports crashes, hangs and internal errors.

The calls follow from the seed; `--only N` makes call number N alone. `--peer` compares results with PyTorch's
instead, where that is installed, and reports every kind of difference of an operator once; `--layers` does so
for layers, functions, optimizers and schedulers, `--gradients` for first and second derivatives. `--meta`
compares calls on the meta device, which have no elements, with those on the CPU. `--alias`
writes results to the memory of arguments. `--programs` runs random Python programs eagerly and under
`torch.compile`, and compares everything that they leave behind.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Batch:
    """What one process did before it ended or was ended by a call."""

    last_call: str
    problems: list[str]
    unstable: list[str]  # that depend on rounding
    calls: int
    crashed: bool


def run_batch(program: str, seed: int, start: int, seconds: float, count: int | None, operator: str) -> Batch:
    with tempfile.TemporaryDirectory() as folder:  # operators that write files write them there
        log = Path(folder) / "last_call.log"
        command = [
            sys.executable,
            "-m",
            f"tools.fuzz.{program}",
            str(log),
            str(seed),
            str(start),
            str(seconds),
        ]
        if count is not None or operator:
            command += [str(count or 0), operator]

        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace"
        )
        text = log.read_text(errors="replace") if log.exists() else ""

    # With the lines of a program below them.
    problems = re.findall(r"^(?:internal error|differs).*(?:\n  .*)*", done.stdout, re.MULTILINE)
    unstable = re.findall(r"^depends on rounding: (\d+)$", done.stdout, re.MULTILINE)
    made = re.search(r"^made (\d+) calls$", done.stdout, re.MULTILINE)
    if made:
        return Batch(text, problems, unstable, int(made[1]), False)
    if not text:
        raise SystemExit(f"the calls did not start:\n{done.stderr}")

    kind = "hangs" if "Timeout" in done.stderr else f"ends the process with status {done.returncode}"
    places = "\n".join(re.findall(r"^  File .*", done.stderr, re.MULTILINE)[:_MOST_PLACES])
    problems.append(f"{kind}: {text}\n{places}")
    return Batch(text, problems, unstable, int(text.split()[0]) - start + 1, True)


_MOST_PLACES = 5  # of the traceback of a call that does not return


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to go on (60)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other calls (0)")
    parser.add_argument("--only", type=int, metavar="N", help="make call number N alone")
    parser.add_argument("--peer", action="store_true", help="compare with PyTorch")
    parser.add_argument(
        "--layers", action="store_true", help="compare torch.nn, torch.optim and the schedulers with PyTorch"
    )
    parser.add_argument(
        "--alias",
        action="store_true",
        help="write to the memory of arguments, with every sample of the tests",
    )
    parser.add_argument(
        "--gradients", action="store_true", help="compare derivatives of operators with PyTorch's"
    )
    parser.add_argument(
        "--meta", action="store_true", help="compare what the meta device refuses with what the CPU does"
    )
    parser.add_argument(
        "--programs", metavar="BACKEND", help="compare random programs with themselves under torch.compile"
    )
    parser.add_argument(
        "--operator",
        default="",
        metavar="NAME",
        help="with the last four: only these, add,linalg_det, Conv2d,SGD or add.Tensor,linalg_det",
    )
    options = parser.parse_args()

    compares = options.peer or options.layers or options.gradients or options.meta
    if compares and importlib.util.find_spec("torch") is None:
        parser.error(
            "--peer, --layers, --gradients and --meta need PyTorch, which is not installed here: "
            "pip install torch==2.13.0"
        )

    if options.alias:
        from tools.fuzz import aliases

        wrong = list(
            aliases.problems(options.operator.split(",") if options.operator else [], options.seconds)
        )
        print(*wrong, f"{len(wrong)} problems", sep="\n")
        return 1 if wrong else 0

    programs = {
        "layers": options.layers,
        "peer": options.peer,
        "gradients": options.gradients,
        "meta": options.meta,
    }
    program = next((name for name, chosen in programs.items() if chosen), "calls")
    if options.programs:
        program = "programs"
        options.operator = options.programs
    start = options.only or 0
    end = time.monotonic() + options.seconds
    found = 0

    while True:
        seconds = max(1.0, end - time.monotonic())
        batch = run_batch(
            program, options.seed, start, seconds, 1 if options.only is not None else None, options.operator
        )
        for problem in batch.problems:
            print(problem, flush=True)
        if batch.unstable:
            print(f"not compared, as eager mode depends on rounding: {', '.join(batch.unstable)}", flush=True)
        found += len(batch.problems)
        start += batch.calls
        if not batch.crashed or time.monotonic() > end or options.only is not None:
            break

    print(f"{start if options.only is None else 1} calls with seed {options.seed}: {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
