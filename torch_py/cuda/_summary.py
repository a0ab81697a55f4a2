"""The table that `torch.cuda.memory_summary` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_WIDTH = 75
_COLUMNS = ("current", "peak", "allocated", "freed")
_POOLS = (("all", ""), ("large_pool", "from large pool"), ("small_pool", "from small pool"))


def _bytes(value: int, scale: int) -> str:
    """`value` in the unit in which `scale` has up to five digits."""
    units = ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB")
    step = 0
    while scale >= 768 * 1024 and step + 1 < len(units):
        value //= 1024
        scale //= 1024
        step += 1
    return f"{value:6d} {units[step]}"


def _count(value: int, scale: int) -> str:
    units = (" ", "K", "M")
    step = 0
    while scale >= 750 * 1000 and step + 1 < len(units):
        value //= 1000
        scale //= 1000
        step += 1
    return f"{value:7d} {units[step]} "


_ROWS: tuple[tuple[str, str, Callable[[int, int], str]], ...] = (
    ("allocated_bytes", "Allocated memory", _bytes),
    ("active_bytes", "Active memory", _bytes),
    ("requested_bytes", "Requested memory", _bytes),
    ("reserved_bytes", "GPU reserved memory", _bytes),
    ("inactive_split_bytes", "Non-releasable memory", _bytes),
    ("allocation", "Allocations", _count),
    ("active", "Active allocs", _count),
    ("segment", "GPU reserved segments", _count),
    ("inactive_split", "Non-releasable allocs", _count),
)


def summary(statistics: Mapping[str, int], device: int, abbreviated: bool) -> str:
    """The table of the statistics of one device; statistics that the backend lacks have no row."""
    double, single = "=" * _WIDTH, "-" * _WIDTH
    lines = [
        double,
        f"                  PyTorch CUDA memory summary, device ID {device:<17d} ",
        single,
        f"            CUDA OOMs: {statistics.get('num_ooms', 0):<12d} |        "
        f"cudaMalloc retries: {statistics.get('num_alloc_retries', 0):<8d}  ",
        double,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]

    for key, title, write in _ROWS:
        if f"{key}.all.current" not in statistics:
            continue
        lines.append(single)
        scales = [statistics[f"{key}.all.{column}"] for column in _COLUMNS]
        for pool, part in _POOLS[:1] if abbreviated else _POOLS:
            values = [statistics.get(f"{key}.{pool}.{column}", 0) for column in _COLUMNS]
            cells = " | ".join(write(value, scale) for value, scale in zip(values, scales))
            name = title if pool == "all" else f"      {part}"
            lines.append(f" {name:<21} | {cells} ")

    lines.append(double)
    return "|" + "|\n|".join(lines) + "|\n"
