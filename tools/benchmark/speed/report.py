"""Tables and a picture of the figures of a run."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

from ..table import format_table
from .case import Case, Group
from .limits import Limits
from .measuring import Result

HEADER = ["case", "torch_py", "torch", "ratio", "of the limit", "best other"]


def duration(seconds: float | None) -> str:
    """In the unit that leaves three digits."""
    if seconds is None:
        return "–"
    for unit, scale in (("ns", 1e9), ("µs", 1e6), ("ms", 1e3)):
        if seconds * scale < 1000:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds:.3g} s"


def share_of_limit(case: Case, result: Result, limits: Limits, threads: int) -> float | None:
    """The least possible time by the time taken.

    With several threads of the arithmetic only: the bandwidths are those of one thread.
    """
    moved = case.bytes if threads == 1 else 0
    least = limits.seconds(case.flops / threads, moved, case.dtype)
    ours = result.seconds.get("torch_py")
    return least / ours if least and ours else None


def best_other(result: Result) -> str:
    """The fastest of the libraries that are not torch, and our time by its time."""
    others = {name: time for name, time in result.seconds.items() if name not in ("torch_py", "torch")}
    if not others or "torch_py" not in result.seconds:
        return ""
    name = min(others, key=others.__getitem__)
    return f"{name} {result.seconds['torch_py'] / others[name]:.2f}"


def row(case: Case, result: Result, limits: Limits, threads: int) -> list[str]:
    share = share_of_limit(case, result, limits, threads)
    ratio = "–" if result.ratio is None else f"{result.ratio:.2f}"
    disturbed = "*" if result.disturbance >= 0.05 else ""

    return [
        case.name,
        duration(result.seconds.get("torch_py")),
        duration(result.seconds.get("torch")),
        ratio + disturbed,
        "" if share is None else f"{share:.0%}",
        best_other(result),
    ]


def ratios_of(results: dict[str, Result]) -> list[float]:
    return [result.ratio for result in results.values() if result.ratio is not None]


def geometric_mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios)) if ratios else math.nan


def verdict(group: Group, results: dict[str, Result]) -> str:
    ratios = ratios_of(results)
    if not ratios:
        return "no ratios: torch is not installed"

    mean, worst = geometric_mean(ratios), max(ratios)
    reached = mean <= group.mean_goal and worst <= group.worst_goal
    return (
        f"geometric mean {mean:.2f} (goal {group.mean_goal}), worst {worst:.2f} (goal {group.worst_goal}): "
        + ("reached" if reached else "missed")
    )


def describe(group: Group, results: dict[str, Result], limits: Limits, threads: int) -> str:
    rows = [row(case, results[case.name], limits, threads) for case in group.cases if case.name in results]
    problems = [
        f"{case}, {library}: {words}"
        for case, result in results.items()
        for library, words in result.problems.items()
    ]
    return "\n".join(
        [f"{group.name}\n", format_table(HEADER, rows), "", verdict(group, results), *problems, ""]
    )


def summary(groups: list[tuple[Group, dict[str, Result]]]) -> str:
    """The groups as a table in Markdown."""
    lines = [
        "| group | cases | geometric mean | goal | worst | goal | worst case |",
        "|---|---:|---:|---:|---:|---:|---|",
    ]
    for group, results in groups:
        compared = {name: result.ratio for name, result in results.items() if result.ratio is not None}
        if not compared:
            continue
        slowest = max(compared, key=compared.__getitem__)
        lines.append(
            f"| {group.name} | {len(compared)} | {geometric_mean(list(compared.values())):.2f} "
            f"| {group.mean_goal} | {compared[slowest]:.2f} | {group.worst_goal} | {slowest} |"
        )
    return "\n".join(lines)


def plot(groups: list[tuple[Group, dict[str, Result]]], path: Path) -> None:
    """A strip of points for each group: one point a case, a bar at the geometric mean."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 0.5 * len(groups) + 1.2), layout="constrained")
    for height, (_, results) in enumerate(reversed(groups)):
        ratios = ratios_of(results)
        axes.scatter(ratios, [height] * len(ratios), s=16, alpha=0.5, color="tab:blue")
        axes.plot([geometric_mean(ratios)] * 2, [height - 0.3, height + 0.3], color="tab:orange", linewidth=2)

    axes.axvline(1, color="gray", linewidth=1)
    axes.set_xscale("log")
    axes.set_yticks(range(len(groups)), [group.name for group, _ in reversed(groups)])
    axes.set_xlabel("time of torch_py / time of torch (left is faster)")
    figure.savefig(path)
    pyplot.close(figure)
