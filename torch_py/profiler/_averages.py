"""Events summed by name, and their table. Times are in microseconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch_py.profiler._ranges import FunctionEvent

_SORT_KEYS = (
    "cpu_time",
    "cpu_time_total",
    "self_cpu_time_total",
    "count",
    "cpu_memory_usage",
    "self_cpu_memory_usage",
)


class FunctionEventAvg:
    """All events of one name, and of the same shapes or lines where those were asked for."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.device_time_total = self.self_device_time_total = 0.0
        self.cpu_memory_usage = self.self_cpu_memory_usage = 0
        self.flops = 0
        self.input_shapes: list[list[int]] = []
        self.stack: list[str] = []

    @property
    def cpu_time(self) -> float:
        """The mean of one event."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: FunctionEvent) -> None:
        self.count += 1
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.memory
        self.self_cpu_memory_usage += event.memory - event.children_memory
        self.flops += event.flops

    def __repr__(self) -> str:
        return f"<FunctionEventAvg key={self.key} count={self.count} cpu_time={_time(self.cpu_time)}>"


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


def _bytes(number: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(number) >= size:
            return f"{number / size:.2f} {unit}"
    return f"{number} B"


def _shortened(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 3] + "..."


# Heading, and the text of a row; of columns that appear if any row has something to show there.
_Of = Callable[[FunctionEventAvg], Any]
_OPTIONAL_COLUMNS: tuple[tuple[str, _Of, _Of], ...] = (
    ("CPU Mem", lambda row: row.cpu_memory_usage, lambda row: _bytes(row.cpu_memory_usage)),
    ("Self CPU Mem", lambda row: row.cpu_memory_usage, lambda row: _bytes(row.self_cpu_memory_usage)),
    ("Input Shapes", lambda row: row.input_shapes, lambda row: str(row.input_shapes)),
    ("Source Location", lambda row: row.stack, lambda row: row.stack[0] if row.stack else ""),
    ("Total MFLOPs", lambda row: row.flops, lambda row: f"{row.flops / 1e6:.3f}" if row.flops else "--"),
)


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
        """Rows of name, own time, total time, mean and number of calls, and of what else was recorded.

        Raises AttributeError for a `sort_by` that is not a column. There are no columns for devices.
        """
        rows = self._sorted(sort_by)[: row_limit if row_limit >= 0 else None]
        own = sum(row.self_cpu_time_total for row in self)
        optional = [column for column in _OPTIONAL_COLUMNS if any(column[1](row) for row in self)]

        lines = [["Name", "Self CPU %", "Self CPU", "CPU total", "CPU time avg", "# of Calls"]]
        lines[0] += [heading for heading, _, _ in optional]
        for row in rows:
            lines.append(
                [
                    _shortened(row.key, max_name_column_width),
                    f"{100 * row.self_cpu_time_total / own:.2f}%" if own else "-",
                    _time(row.self_cpu_time_total),
                    _time(row.cpu_time_total),
                    _time(row.cpu_time),
                    str(row.count),
                    *(text(row) for _, _, text in optional),
                ]
            )
        return _layout(lines, header) + f"\nSelf CPU time total: {_time(own)}\n"

    def _sorted(self, sort_by: str | None) -> list[FunctionEventAvg]:
        if sort_by is None:
            return list(self)
        key = sort_by.replace("cuda_", "device_") if "cuda" in sort_by else sort_by
        if key not in _SORT_KEYS and not hasattr(FunctionEventAvg(""), key):
            raise AttributeError(f"table: expected sort_by, one of {', '.join(_SORT_KEYS)}, got {sort_by!r}")
        return sorted(self, key=lambda row: getattr(row, key), reverse=True)

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


def averages(events: Iterable[FunctionEvent], by_shape: bool = False, stack_depth: int = 0) -> EventList:
    """Events summed by name, by the shapes of arguments, and by the innermost `stack_depth` lines."""
    found: dict[Any, FunctionEventAvg] = {}
    for event in events:
        shapes = str(event.input_shapes) if by_shape else ""
        stack = tuple(event.stack[:stack_depth])
        row = found.get((event.name, shapes, stack))
        if row is None:
            row = found[event.name, shapes, stack] = FunctionEventAvg(event.name)
            row.input_shapes = event.input_shapes if by_shape else []
            row.stack = list(stack)
        row.add(event)
    return EventList(found.values())
