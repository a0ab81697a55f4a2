"""Profiles as Chrome traces, which https://ui.perfetto.dev opens."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from torch_py.profiler._ranges import FunctionEvent


def write_trace(path: str, events: Iterable[FunctionEvent], metadata: dict[str, Any]) -> None:
    """Writes a trace; compressed if the name ends with ``.gz``. Times in the file are microseconds."""
    text = json.dumps({"schemaVersion": 1, **metadata, "traceEvents": list(_rows(list(events)))})
    opened = gzip.open(path, "wt", encoding="utf-8") if str(path).endswith(".gz") else None
    if opened is None:
        Path(path).write_text(text, encoding="utf-8")
        return
    with opened:
        opened.write(text)


def _rows(events: list[FunctionEvent]) -> Iterator[dict[str, Any]]:
    process = os.getpid()
    for event in events:
        yield {
            "name": event.name,
            "cat": "cpu_op" if event.is_operator else "user_annotation",
            "ph": "X",
            "ts": event.start_ns / 1000,
            "dur": (event.end_ns - event.start_ns) / 1000,
            "pid": process,
            "tid": event.thread,
            "args": _details(event),
        }
    yield from _links(events, process)


def _details(event: FunctionEvent) -> dict[str, Any]:
    """What Perfetto shows of a chosen event."""
    found: dict[str, Any] = {}
    if event.sequence_nr >= 0:
        found["Sequence number"] = event.sequence_nr
    if event.input_shapes:
        found["Input Dims"] = event.input_shapes
    if event.memory:
        found["Bytes"] = event.memory
    if event.flops:
        found["Flops"] = event.flops
    if event.stack:
        found["Call stack"] = ";".join(event.stack)
    return found


def _links(events: list[FunctionEvent], process: int) -> Iterator[dict[str, Any]]:
    """Arrows from the call that made a node of the graph to the run of the node in backward.

    Calls carry the number that the next node will get, so the last one with the number of a node made it.
    """
    makers = {event.sequence_nr: event for event in events if event.is_operator and event.parent is None}
    makers |= {
        event.sequence_nr: event for event in events if event.is_operator and event.sequence_nr not in makers
    }

    for event in events:
        maker = makers.get(event.sequence_nr)
        if event.is_operator or event.sequence_nr < 0 or maker is None:
            continue
        link = {"name": "fwdbwd", "cat": "fwdbwd", "id": event.sequence_nr, "pid": process}
        yield {**link, "ph": "s", "ts": maker.start_ns / 1000, "tid": maker.thread}
        yield {**link, "ph": "f", "bp": "e", "ts": event.start_ns / 1000, "tid": event.thread}
