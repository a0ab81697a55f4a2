"""The page docs/device.md from the results of a check: `python -m tools.device report FOLDER`."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .stages import STAGES

_BEGINNING = """\
# On a GPU

This page has the results of the last `make device` on a GPU. `python -m tools.device report FOLDER` wrote it.

* Times of operators are measured on the device, between events around many calls.
* A *ratio* is the time of torch_py divided by that of PyTorch: below 1, torch_py is faster. The libraries
  take turns in one process, and the ratio is the median of seven rounds.
* *Of copy* is the bandwidth, for the bytes that the call must move, relative to a copy in the same run.
* Both libraries compute float32 without TF32.
* Training steps are timed on the host, with everything that the program does; memory is the largest amount
  that was allocated.
"""


def lines(results: Path) -> Iterator[str]:
    """The page; what a stage did not find is left out."""
    yield from _BEGINNING.splitlines()
    yield ""
    yield from _machine(results)
    endings = _read(results / "stages.json") or {}
    for stage, section in {"training": _training, "figures": _figures}.items():
        found = _read(results / f"{stage}.json") if stage in endings else None
        if found is not None:
            yield from section(found)


def _read(path: Path) -> Any:
    return json.loads(path.read_text()) if path.exists() else None


def _machine(results: Path) -> Iterator[str]:
    log = results / "machine.log"
    text = log.read_text() if log.exists() else ""
    name = re.search(r"\|\s+0\s+(\S.*?)\s{2,}", text)
    driver = re.search(r"Driver Version: (\S+)", text)
    checked = datetime.date.fromtimestamp((results / "stages.json").stat().st_mtime)
    yield "| | |"
    yield "|---|---|"
    yield f"| date | {checked} |"
    yield f"| GPU | {name[1] if name else 'unknown'} |"
    yield f"| driver | {driver[1] if driver else 'unknown'} |"

    endings = _read(results / "stages.json") or {}
    for stage in STAGES:
        has_summary = stage in endings and stage in ("tests", "sanitizer")
        summary = _summary(results / f"{stage}.log") if has_summary else ""
        yield f"| {stage} | {endings.get(stage, 'not run')}{summary} |"
    yield ""


def _summary(log: Path) -> str:
    found = re.findall(r"^=*\s*((?:\d+ \w+, )*\d+ \w+) in [\d.:]+", log.read_text(errors="replace"), re.M)
    return f": {found[-1]}" if found else ""


def _training(training: dict[str, Any]) -> Iterator[str]:
    yield "## Training"
    yield ""
    worst = "; ".join(f"{name} {value:.0e}" for name, value in training["differences"].items())

    steps = training["steps"]
    yield f"The largest relative differences from PyTorch's losses in the first {steps} steps: {worst}."
    yield ""

    yield "| step | ms | PyTorch, ms | ratio | GB | PyTorch, GB |"
    yield "|---|---:|---:|---:|---:|---:|"
    for row in training["times"]:
        ours, theirs = row["torch_py"], row["PyTorch"]
        yield (
            f"| {row['name']} | {ours[0]:.1f} | {theirs[0]:.1f} | {ours[0] / theirs[0]:.2f} "
            f"| {ours[1]:.2f} | {theirs[1]:.2f} |"
        )
    yield ""


def _number(row: dict[str, Any], key: str, digits: int) -> str:
    return f"{row[key]:.{digits}f}" if key in row else ""


def _figures(figures: list[dict[str, Any]]) -> Iterator[str]:
    yield "## Operators"
    yield ""
    yield "| call | µs | PyTorch, µs | ratio | of copy |"
    yield "|---|---:|---:|---:|---:|"
    for row in figures:
        if "error" in row:
            yield f"| {row['name']} | {row['error']} | | | |"
            continue
        share = _number(row, "share", 2)
        yield (
            f"| {row['name']} | {row['microseconds']:.1f} | {_number(row, 'peer', 1)} "
            f"| {_number(row, 'ratio', 2)} | {share} |"
        )
