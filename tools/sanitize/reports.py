"""The reports of the sanitizers: which there are, each place once."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

UNDEFINED = re.compile(r"^(?P<place>\S+:\d+:\d+): runtime error: (?P<what>.*)$")
BLOCK = re.compile(r"^==\d+==ERROR: (?P<what>.*)$|^WARNING: (?P<race>ThreadSanitizer.*)$")
SUMMARY = re.compile(r"^SUMMARY: (?P<what>.*)$")


def findings(folder: Path) -> dict[str, tuple[int, str]]:
    """For each finding, how often it was reported and the first report.

    The sanitizers of undefined behaviour name a place; the others end a report with a summary.
    """
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for path in sorted(folder.glob("report*")):
        for name, text in split(path.read_text(errors="replace")):
            counts[name] += 1
            first.setdefault(name, text)
    return {name: (counts[name], first[name]) for name in first}


def split(text: str) -> list[tuple[str, str]]:
    """Name and text of each report of a file."""
    reports: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        undefined = UNDEFINED.match(line)
        if undefined:
            reports.append((f"{undefined['place']}: {without_numbers(undefined['what'])}", [line]))
        elif block := BLOCK.match(line):
            reports.append((block["what"] or block["race"], [line]))
        elif reports and (summary := SUMMARY.match(line)):
            reports[-1] = (summary["what"], [*reports[-1][1], line])
        elif reports:
            reports[-1][1].append(line)

    return [(name, "\n".join(lines)) for name, lines in reports]


def without_numbers(text: str) -> str:
    """Values and addresses differ from run to run; `int64_t` keeps its number."""
    return re.sub(r"(?<![\w.])-?(0x[0-9a-f]+|\d[\d.e+]*)\b", "N", text)
