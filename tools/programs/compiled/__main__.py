"""python -m tools.programs.compiled [GROUP...]: trains models eagerly and under torch.compile, and compares.

To be started with a Python that has the packages. The groups are "examples" and the files of `models/`;
without names all are run, and docs/compiled_programs.md is written.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..running import ROOT, exception_of

MODELS = Path(__file__).parent / "models"
BACKENDS = ("aot_eager", "inductor")
SECONDS = 1800
# Training amplifies the rounding of the first steps in the later ones.
TOLERANCE, FIRST = 1e-3, 3
HEADER = """# Compiled programs

Models of `examples/` and of packages from PyPI are trained for 8 steps on one core, eagerly and compiled. The
last two steps have other batch sizes. The losses of the first {first} steps must agree to {tolerance:g}.

* *difference*: the largest difference of the losses in all steps, relative to the loss, for the backends
  `aot_eager` and `inductor`
* *graphs* and *breaks*: those of `inductor`; a break has its reason
* *compile*: the processor time of all compiled steps, with an empty cache, minus that of the eager ones
* *step*: the processor time of the shortest of steps 4 to 6

This command wrote the page:

```sh
python -m tools.programs.compiled --help
```

| program | equal | difference | graphs | breaks | compile, s | eager step, ms | compiled step, ms |
|---|---|---|---|---|---|---|---|
"""

Runs = dict[str, dict[str, Any]]  # by backend; "none" is eager mode


def run_group(group: str, torchvision: str | None) -> Iterator[tuple[str, Runs]]:
    """The runs of each program of a group, in a process of its own."""
    needs_vision = (
        "declare_torchvision" in (MODELS / f"{group}.py").read_text() if group != "examples" else ""
    )
    paths = [str(ROOT), torchvision or "" if needs_vision else "", os.environ.get("PYTHONPATH", "")]
    script = Path(__file__).parent / "stepping.py"

    with tempfile.TemporaryDirectory() as folder:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONWARNINGS": "ignore",
            "HF_HUB_OFFLINE": "1",
            "TORCHINDUCTOR_CACHE_DIR": f"{folder}/kernels",
        }
        command = [sys.executable, "-m", "torch_py.as_torch", str(script), group, "--backends", *BACKENDS]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SECONDS
        )

    programs: dict[str, Runs] = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found = json.loads(line)
            programs.setdefault(found["program"], {})[found["backend"]] = found
    if done.returncode != 0:
        programs[group] = {"none": {"problem": exception_of(done.stderr)}}
    yield from programs.items()


def difference(expected: list[float], found: list[float]) -> float:
    """The largest one of losses, relative to the loss."""
    return max(abs(a - b) / max(abs(a), 1e-12) for a, b in zip(expected, found))


def row(group: str, name: str, runs: Runs) -> str:
    title = name if group == "examples" else f"{package_of(group)}: {name}"
    problems = [f"{key}: {run['problem']}" for key, run in runs.items() if "problem" in run]
    missing = [backend for backend in ("none", *BACKENDS) if backend not in runs]
    if problems or missing:
        what = "; ".join(problems) or f"ended in {missing[0]}"
        return f"| {title} | no | {what.replace('|', ' ')} | | | | | |"

    eager, compiled = runs["none"], runs["inductor"]
    others = [runs[backend]["losses"] for backend in BACKENDS]
    is_equal = all(difference(eager["losses"][:FIRST], losses[:FIRST]) <= TOLERANCE for losses in others)
    cells = (
        title,
        "yes" if is_equal else "**no**",
        ", ".join(f"{difference(eager['losses'], losses):.0e}" for losses in others),
        compiled["graphs"],
        breaks(compiled),
        f"{max(0.0, compiled['seconds'] - eager['seconds']):.1f}",
        f"{eager['step'] * 1e3:.1f}",
        f"{compiled['step'] * 1e3:.1f}",
    )
    return f"| {' | '.join(map(str, cells))} |"


def breaks(run: dict[str, Any]) -> str:
    """How many, and why; also what ran eagerly because the compiler failed."""
    reasons = [f"{count} × {reason}" for reason, count in run["breaks"].items()]
    reasons += [f"eager: {warning}" for warning in run["warnings"]]
    return "; ".join(reasons).replace("|", " ") if reasons else "0"


def package_of(group: str) -> str:
    return group.removesuffix("_models").replace("_", "-")


def groups() -> list[str]:
    return ["examples", *sorted(path.stem for path in MODELS.glob("*_models.py"))]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.programs.compiled", description=__doc__)
    parser.add_argument("groups", nargs="*", metavar="GROUP", help="default: all, and the table is written")
    parser.add_argument(
        "--torchvision", metavar="DIR", help="where torchvision is installed, for the packages that need it"
    )
    options = parser.parse_args()
    if unknown := set(options.groups) - set(groups()):
        parser.error(f"unknown groups: {', '.join(sorted(unknown))}; there are {', '.join(groups())}")

    rows = []
    for group in options.groups or groups():
        for name, runs in run_group(group, options.torchvision):
            rows.append(row(group, name, runs))
            print(rows[-1], flush=True)

    if not options.groups:
        header = HEADER.format(tolerance=TOLERANCE, first=FIRST)
        (ROOT / "docs/compiled_programs.md").write_text(header + "\n".join(rows) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
