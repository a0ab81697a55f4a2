"""Tables and a picture of the figures of a run."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

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
    """A panel for each group: a bar for each case, from 1 (as fast as torch) to its ratio."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    # Text as text: as outlines the file is ten times as large.
    pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "speed"})

    columns = in_columns([group for group in groups if ratios_of(group[1])])
    tallest = max(map(rows_of, columns))
    figure = pyplot.figure(figsize=(5.5 * len(columns), 0.16 * tallest + 0.5), layout="constrained")
    for column, panels in zip(figure.subfigures(1, len(columns), squeeze=False)[0], columns):
        heights = [rows_of([panel]) for panel in panels]
        # What is left below the last panel keeps bars of all columns equally thick.
        heights.append(tallest - sum(heights) or 1)
        grid = column.add_gridspec(len(heights), 1, height_ratios=heights)
        for place, (group, results) in enumerate(panels):
            draw_group(column.add_subplot(grid[place]), group, results)

    figure.savefig(path)
    pyplot.close(figure)


def rows_of(panels: list[tuple[Group, dict[str, Result]]]) -> int:
    """The height of panels in bars; a title and an axis take as much as three."""
    return sum(len(ratios_of(results)) + 3 for _, results in panels)


def in_columns(
    groups: list[tuple[Group, dict[str, Result]]], count: int = 3
) -> list[list[tuple[Group, dict[str, Result]]]]:
    """The groups in order, cut into columns of about the same height."""
    columns: list[list[tuple[Group, dict[str, Result]]]] = [[]]
    share = rows_of(groups) / count
    for group in groups:
        if columns[-1] and rows_of([*columns[-1], group]) > share and len(columns) < count:
            columns.append([])
        columns[-1].append(group)
    return columns


def draw_group(axes: Any, group: Group, results: dict[str, Result]) -> None:
    ratios = {case: result.ratio for case, result in results.items() if result.ratio is not None}
    names = list(reversed(ratios))
    lengths = [ratios[name] - 1 for name in names]
    colours = ["tab:red" if length > 0 else "tab:blue" for length in lengths]
    axes.barh(range(len(names)), lengths, left=1, color=colours)

    axes.axvline(geometric_mean(list(ratios.values())), color="tab:orange", linewidth=1.5)
    axes.set_title(f"{group.name}: geometric mean {geometric_mean(list(ratios.values())):.2f}", fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_xlim(1 / 64, 16)
    axes.set_xticks([1 / 64, 1 / 16, 1 / 4, 1, 4, 16], ["1/64", "1/16", "1/4", "1", "4", "16"], fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=6)
    axes.set_ylim(-0.6, len(names) - 0.4)
    axes.tick_params(which="both", length=0)
