"""Ranges summed by name, and their table. Times are in microseconds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_py.profiler._ranges import Range

_SORT_KEYS = (
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "count",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
)


class FunctionEventAvg:
    """All ranges of one name."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.device_time_total = self.self_device_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0

    @property
    def cpu_time(self) -> float:
        """The mean of one range."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: Range) -> None:
        total = event.end_ns - event.start_ns
        self.count += 1
        self.cpu_time_total += total / 1000
        self.self_cpu_time_total += (total - event.children_ns) / 1000

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={_time(self.cpu_time)}>"


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


class EventList(list[FunctionEventAvg]):
    """What `profile.key_averages()` returns."""

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        header: str | None = None,
        **options: Any,
    ) -> str:
        """Rows of name, own time, total time, mean and number of calls.

        Raises AttributeError for a `sort_by` that is not a column. There are no columns for devices.
        """
        rows: Iterable[FunctionEventAvg] = self
        if sort_by is not None:
            key = sort_by.replace("cuda_", "device_") if "cuda" in sort_by else sort_by
            if key not in _SORT_KEYS and not hasattr(FunctionEventAvg(""), key):
                raise AttributeError(
                    f"table: expected sort_by, one of {', '.join(_SORT_KEYS)}, got {sort_by!r}"
                )
            rows = sorted(self, key=lambda row: getattr(row, key), reverse=True)

        own = sum(row.self_cpu_time_total for row in self)
        lines = [["Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls"]]
        for row in list(rows)[: row_limit if row_limit >= 0 else None]:
            name = (
                row.key
                if len(row.key) <= max_name_column_width
                else row.key[: max_name_column_width - 3] + "..."
            )
            share = f"{100 * row.self_cpu_time_total / own:.2f}%" if own else "-"

            lines.append(
                [
                    name,
                    share,
                    _time(row.self_cpu_time_total),
                    _time(row.cpu_time_total),
                    _time(row.cpu_time),
                    str(row.count),
                ]
            )

        return (
            _layout(lines, header) + f"\nSelf CPU time total: {_time(own)} (ranges of record_function only)\n"
        )

    def total_average(self) -> FunctionEventAvg:
        total = FunctionEventAvg("Total")
        for row in self:
            total.count += row.count
            total.cpu_time_total += row.cpu_time_total
            total.self_cpu_time_total += row.self_cpu_time_total
        return total

    def __str__(self) -> str:
        return self.table()


def _layout(lines: list[list[str]], header: str | None) -> str:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    rule = "  ".join("-" * width for width in widths)
    text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines]
    return "\n".join([*([header] if header else []), rule, text[0], rule, *text[1:], rule])


def averages(events: Iterable[Range]) -> EventList:
    found: dict[str, FunctionEventAvg] = {}
    for event in events:
        found.setdefault(event.name, FunctionEventAvg(event.name)).add(event)
    return EventList(found.values())
