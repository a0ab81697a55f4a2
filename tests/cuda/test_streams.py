"""Streams and events: order of work, waiting, the current stream."""

from __future__ import annotations

import pytest

from tests.subject import torch


def test_the_default_stream_is_current():
    stream = torch.cuda.current_stream()
    assert stream == torch.cuda.default_stream() and stream.cuda_stream == 0
    assert stream.device == torch.device("cuda", 0) and stream.device_type == 1 and stream.device_index == 0
    assert repr(stream) == "<torch.cuda.Stream device=cuda:0 cuda_stream=0x0>"
    assert stream.__cuda_stream__() == (0, 0) and stream._as_parameter_.value is None
    assert isinstance(stream, torch.Stream) and hash(stream) == hash(torch.cuda.default_stream())


def test_streams_of_the_pool_differ():
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    assert first != second and first != torch.cuda.default_stream() and first.cuda_stream != 0
    assert len({first, second, first}) == 2
    lowest, highest = torch.cuda.Stream.priority_range()
    assert highest < 0 <= lowest
    assert torch.cuda.Stream(priority=highest).priority == highest and first.priority == 0


def test_blocks_choose_a_stream_and_restore_it():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream() == stream
        with torch.cuda.stream(None):
            assert torch.cuda.current_stream() == stream
        with torch.cuda.stream(torch.cuda.default_stream()):
            assert torch.cuda.current_stream().cuda_stream == 0
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    with torch.Stream("cuda") as other:
        assert torch.cuda.current_stream().stream_id == other.stream_id
        assert torch.accelerator.current_stream() == other
    assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_set_stream():
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    assert torch.cuda.current_stream() == stream
    torch.cuda.set_stream(None)
    assert torch.cuda.current_stream() == stream
    torch.cuda.set_stream(torch.cuda.default_stream())


def test_a_stream_of_another_device_selects_it(two_devices):
    stream = torch.cuda.Stream(device=1)
    assert stream.device == torch.device("cuda", 1) and torch.cuda.current_device() == 0
    with torch.cuda.stream(stream):
        assert torch.cuda.current_device() == 1 and torch.cuda.current_stream() == stream
        assert torch.cuda.current_stream(0) == torch.cuda.default_stream(0)
    assert torch.cuda.current_device() == 0
    assert torch.cuda.current_stream(1) == torch.cuda.default_stream(1)


def test_external_streams_are_the_same_stream():
    stream = torch.cuda.Stream()
    external = torch.cuda.ExternalStream(stream.cuda_stream)
    assert external.cuda_stream == stream.cuda_stream
    with torch.cuda.stream(external):
        value = torch.ones(3, device="cuda") + 1
    external.synchronize()
    assert value.tolist() == [2.0, 2.0, 2.0]
    assert torch.cuda.get_stream_from_external(stream.cuda_stream).cuda_stream == stream.cuda_stream


def test_work_of_a_stream_is_done_after_synchronize():
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        value = torch.full((1000,), 2.0, device="cuda") * 3
    stream.synchronize()
    assert stream.query()
    assert value.cpu().eq(6).all()


def test_waiting_orders_streams():
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(first):
        value = torch.full((64,), 5.0, device="cuda")
    second.wait_stream(first)
    with torch.cuda.stream(second):
        result = value + 1
        value.record_stream(second)
    event = second.record_event()
    event.synchronize()
    assert event.query() and result.cpu().eq(6).all()

    torch.cuda.current_stream().wait_event(event)
    assert (result * 2).cpu().eq(12).all()


def test_events_measure_time():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    assert start.query() and repr(start) == "<torch.cuda.Event uninitialized>"
    start.record()
    torch.ones(10, device="cuda").add_(1)
    end.record()
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    assert start.cuda_event != 0 and repr(start).startswith("<torch.cuda.Event 0x")


def test_events_refuse_what_they_cannot_tell():
    plain, timed = torch.cuda.Event(), torch.cuda.Event(enable_timing=True)
    plain.record()
    with pytest.raises(ValueError, match="enable_timing=True"):
        plain.elapsed_time(timed)
    with pytest.raises(ValueError, match="must be recorded"):
        timed.elapsed_time(torch.cuda.Event(enable_timing=True))
    with pytest.raises(AttributeError):
        torch.cuda.current_stream().record_event(3)


def test_events_belong_to_one_device(two_devices):
    event = torch.cuda.Event()
    event.record()
    with torch.cuda.device(1), pytest.raises(RuntimeError, match="does not match"):
        event.record(torch.cuda.current_stream(1))
    torch.cuda.current_stream(1).wait_event(event)  # other devices may wait


def test_generic_streams_and_events():
    stream, event = torch.Stream("cuda"), torch.Event("cuda", enable_timing=True)
    assert stream.device == torch.device("cuda", 0) and stream.query()
    assert repr(stream).startswith("torch.Stream device_type=cuda, device_index=0, stream_id=")
    event.record(stream)
    stream.wait_event(event)
    event.synchronize()
    assert event.query() and event.event_id != 0
    assert stream == torch.Stream(stream.stream_id, stream.device_index, stream.device_type)
