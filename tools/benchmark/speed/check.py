"""What `--check` accepts: ratios to PyTorch of one run, with slack, so that it can run on any machine.

A group's goals are those of an idle machine. The slack is for busy ones and for other processors; what
exceeds it is a kernel that became several times slower.
"""

from __future__ import annotations

from collections.abc import Callable

from . import report
from .case import Group
from .measuring import Result

# How far a case may exceed its group's goal for the worst one, and a group its goal for the mean.
SLACK = 2.0
# How often a case that is too slow is measured again, after all others.
RETRIES = 2

# Cases and groups that exceed their limit on some processor, with the ratio that is accepted for now. Cases
# of memory alone scatter on busy machines.
KNOWN = {
    "products/outer": 2.0,
}

Results = dict[str, Result]
Measured = list[tuple[Group, Results]]


def limit_of_case(group: Group, case: str) -> float:
    return KNOWN.get(f"{group.name}/{case}", group.worst_goal * SLACK)


def limit_of_mean(group: Group) -> float:
    return KNOWN.get(group.name, group.mean_goal * SLACK)


def slow_cases(group: Group, results: Results) -> dict[str, float]:
    """The cases beyond their limit, with their ratios."""
    return {
        name: result.ratio
        for name, result in results.items()
        if result.ratio is not None and result.ratio > limit_of_case(group, name)
    }


def retry(measured: Measured, measure: Callable[[str], Result]) -> None:
    """Measures slow cases again and keeps the better figures. `measure` takes `group/case`."""
    for _ in range(RETRIES):
        for group, results in measured:
            for name, ratio in slow_cases(group, results).items():
                again = measure(f"{group.name}/{name}")
                if again.ratio is not None and again.ratio < ratio:
                    results[name] = again


def problems(measured: Measured) -> list[str]:
    """A line for each case and each group that is too slow."""
    found = []
    for group, results in measured:
        for name, ratio in slow_cases(group, results).items():
            found.append(f"{group.name}/{name}: {ratio:.2f}, at most {limit_of_case(group, name):.2f}")

        mean = report.geometric_mean(report.ratios_of(results))
        if mean > limit_of_mean(group):
            found.append(f"{group.name}, geometric mean: {mean:.2f}, at most {limit_of_mean(group):.2f}")
    return found
