"""Operators on a GPU compared with PyTorch, in turns: `python -m tools.device.figures`.

Times are of the device, between two events around a run of calls; a ratio is the median over the rounds of
our time divided by PyTorch's. Operands are larger than the cache. The last column is the bandwidth that a
call has by the bytes that it must move, as a share of that of a copy in the same run.
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch_py

from .cases import CASES, Case
from .stages import keep

_ROUNDS = 7
_MILLISECONDS = 8.0  # of work in a run of calls
_SECONDS = 130.0  # for all cases


def main() -> None:
    peer = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    if peer:
        peer.backends.cudnn.allow_tf32 = False
    torch_py.backends.cudnn.allow_tf32 = False

    end = time.monotonic() + _SECONDS
    rows = []
    copied: float | None = None

    for case in CASES:
        if time.monotonic() > end:
            print("no time for the other cases")
            break
        row = measured(case, peer)
        if case is CASES[0]:
            copied = row.get("bandwidth")
        if copied and "bandwidth" in row:
            row["share"] = row["bandwidth"] / copied
        rows.append(row)
        print(_line(row), flush=True)
        keep("figures", rows)


def measured(case: Case, peer: Any) -> dict[str, Any]:
    """The times of a case in microseconds, its ratio and its bandwidth in bytes a second."""
    row: dict[str, Any] = {"name": case.name}
    try:
        call = case.make(torch_py)
        fallbacks = _fallbacks(call)
        if fallbacks:
            return {**row, "error": f"runs {', '.join(fallbacks)} on the host"}
        other = case.make(peer) if peer else None
        ours, theirs = _times(call, other, peer)
    except Exception as error:
        return {**row, "error": f"{type(error).__name__}: {error}"[:300]}
    finally:
        torch_py.cuda.empty_cache()
        if peer:
            peer.cuda.empty_cache()

    row["microseconds"] = 1e3 * statistics.median(ours)
    if theirs:
        row["peer"] = 1e3 * statistics.median(theirs)
        row["ratio"] = statistics.median(a / b for a, b in zip(ours, theirs))
    if case.bytes:
        row["bandwidth"] = case.bytes / (row["microseconds"] / 1e6)
    return row


def _fallbacks(call: Callable[[], Any]) -> list[str]:
    before = dict(torch_py.cuda.host_fallbacks())
    call()
    torch_py.cuda.synchronize()
    return [name for name, count in torch_py.cuda.host_fallbacks().items() if count > before.get(name, 0)]


def _times(
    call: Callable[[], Any], other: Callable[[], Any] | None, peer: Any
) -> tuple[list[float], list[float]]:
    """Milliseconds for a call, in each round; ours and the other's."""
    count = max(1, min(2000, int(_MILLISECONDS / max(_time(torch_py, call, 3), 1e-3))))
    if other is not None:
        _time(peer, other, 3)
    ours, theirs = [], []
    for _ in range(_ROUNDS):
        ours.append(_time(torch_py, call, count))
        if other is not None:
            theirs.append(_time(peer, other, count))
    return ours, theirs


def _time(torch: Any, call: Callable[[], Any], count: int) -> float:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for _ in range(count):
        call()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) / count


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['name']:34} {row['error']}"
    peer = f"{row['peer']:10.2f} us {row['ratio']:6.2f}" if "peer" in row else ""
    bandwidth = f"{row['bandwidth'] / 1e9:8.0f} GB/s {row['share']:5.2f}" if "share" in row else ""
    return f"{row['name']:34} {row['microseconds']:10.2f} us {peer} {bandwidth}"


if __name__ == "__main__":
    main()
