"""Streams and events without an accelerator: results and errors are PyTorch's."""

from __future__ import annotations

import pytest

from tests.subject import torch
from tests.torch_py.outcomes import outcome

CALLS = {
    "record_stream": lambda t: t.ones(2).record_stream(t.Stream()),
    "stream": lambda t: (
        repr(t.Stream()),
        t.Stream().query(),
        t.Stream() == t.Stream("cpu"),
        t.Stream().synchronize(),
    ),
    "stream of cuda": lambda t: t.Stream("cuda"),
    "stream's event": lambda t: t.Stream().record_event(),
    "event": lambda t: (repr(t.Event(enable_timing=True)), t.Event().query(), t.Event().wait()),
    "event set": lambda t: t.Event().record(),
    "event's time": lambda t: t.Event().elapsed_time(t.Event()),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_streams_and_events_agree_with_pytorch(call):
    peer = pytest.importorskip("torch")
    assert outcome(call, torch) == outcome(call, peer)
