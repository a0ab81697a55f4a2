"""``pytest tests/ops --operator-report FILE`` writes a Markdown table of the tests that ran on each operator.

A plugin, because only the process that started the workers sees the results of all of them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

_TEST = re.compile(
    r"tests/ops/test_(\w+)\.py::test_(\w+)\[(.+?)(?:-(?:u?int|float|bfloat|complex|bool)\d*)?\]"
)


class OperatorReport:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: defaultdict[str, defaultdict[str, Counter[str]]] = defaultdict(
            lambda: defaultdict(Counter)
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = _TEST.match(report.nodeid)
        if found is None or (report.when != "call" and report.passed):
            return
        file, _, operator = found.groups()
        self.outcomes[operator][file][report.outcome] += 1

    def pytest_sessionfinish(self) -> None:
        files = sorted({file for by_file in self.outcomes.values() for file in by_file})
        totals = {file: sum((found[file] for found in self.outcomes.values()), Counter()) for file in files}
        lines = [
            "# What is tested of each operator",
            "",
            "Passed tests by file of `tests/ops`; `+ n skipped` where a test has nothing to try, `n FAILED` "
            "where it failed. Made by",
            "",
            "    pytest tests/ops --operator-report FILE",
            "",
            f"| operator | {' | '.join(files)} |",
            f"|---|{'---:|' * len(files)}",
            f"| all | {' | '.join(_cell(totals[file]) for file in files)} |",
        ]
        for operator in sorted(self.outcomes, key=str.lower):
            cells = [_cell(self.outcomes[operator][file]) for file in files]
            lines.append(f"| `{operator}` | {' | '.join(cells)} |")

        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("\n".join(lines) + "\n")


def _cell(outcomes: Counter[str]) -> str:
    parts = [str(outcomes["passed"])] if outcomes["passed"] else []
    parts += [f"{outcomes['skipped']} skipped"] if outcomes["skipped"] else []
    parts += [f"{outcomes['failed']} FAILED"] if outcomes["failed"] else []
    return " + ".join(parts)
