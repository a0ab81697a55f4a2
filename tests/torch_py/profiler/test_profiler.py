"""torch.profiler: ranges, schedules, tables and traces."""

import gzip
import json
import threading
import time

import pytest

import torch_py as torch
from torch_py.profiler import ProfilerAction, profile, record_function, schedule


def test_ranges_are_summed_and_nested_time_is_not_own_time():
    with profile() as measured:
        for _ in range(2):
            with record_function("outer"):
                time.sleep(0.01)
                with record_function("inner"):
                    time.sleep(0.02)

    rows = {row.key: row for row in measured.key_averages()}
    outer, inner = rows["outer"], rows["inner"]
    assert outer.count == inner.count == 2 and inner.cpu_time_total >= 40_000
    assert outer.cpu_time_total == pytest.approx(outer.self_cpu_time_total + inner.cpu_time_total, rel=0.01)

    table = measured.key_averages().table(sort_by="self_cpu_time_total")
    assert table.index("inner") < table.index("outer")

    with pytest.raises(AttributeError, match="sort_by"):
        measured.key_averages().table(sort_by="colour")


def test_nothing_is_recorded_outside():
    with record_function("before"):
        pass
    with profile() as measured:
        pass
    assert measured.events() == []


def test_decorator_and_trace(tmp_path):
    @record_function("decorated")
    def function():
        return 3

    with profile() as measured:
        assert function() == 3
    path = tmp_path / "trace.json"
    measured.export_chrome_trace(str(path))
    assert [event["name"] for event in json.loads(path.read_text())["traceEvents"]] == ["decorated"]


def test_schedule_against_peer():
    peer = pytest.importorskip("torch.profiler")
    for options in (
        {"wait": 1, "warmup": 1, "active": 2},
        {"wait": 0, "warmup": 1, "active": 1, "repeat": 2, "skip_first": 3},
    ):
        ours = schedule(**options)
        theirs = peer.schedule(**options)
        assert [ours(step).name for step in range(20)] == [theirs(step).name for step in range(20)]
    with pytest.raises(AssertionError, match="active"):
        schedule(wait=1, warmup=0, active=0)


def test_scheduled_profile_calls_back_at_the_end_of_each_cycle():
    seen = []
    with profile(
        schedule=schedule(wait=1, warmup=0, active=2, repeat=1),
        on_trace_ready=lambda p: seen.append(p.key_averages()),
    ) as measured:
        for step in range(6):
            with record_function(f"step {step}"):
                pass
            measured.step()

    assert len(seen) == 1 and {row.key for row in seen[0]} == {
        "step 1",
        "step 2",
        "ProfilerStep#1",
        "ProfilerStep#2",
    }
    assert measured.current_action is ProfilerAction.NONE


# Operators


def names(measured):
    return [event.name for event in measured.events()]


def test_operators_are_recorded_inside_of_those_that_call_them():
    x = torch.ones(4, 4)
    with profile() as measured:
        with record_function("range"):
            torch.nn.functional.mse_loss(x, x)
        x + x

    events = {event.name: event for event in measured.events()}
    assert events["aten::mse_loss"].parent is events["range"]
    assert events["aten::add"].parent is None and events["aten::add"].is_operator
    assert all(event.end_ns >= event.start_ns for event in measured.events())
    for event in measured.events():
        around = event.parent or event
        assert around.start_ns <= event.start_ns <= event.end_ns <= around.end_ns


def test_own_times_add_up_to_the_time_of_the_outermost():
    with profile() as measured:
        with record_function("all"):
            for _ in range(20):
                torch.logsumexp(torch.ones(100, 10), 1)
    (outermost,) = [event for event in measured.events() if event.parent is None]
    own = sum(row.self_cpu_time_total for row in measured.key_averages())
    assert own == pytest.approx(outermost.cpu_time_total, rel=1e-6)


def test_backward_is_linked_to_forward(tmp_path):
    x = torch.ones(3, 3, requires_grad=True)
    with profile() as measured:
        (x @ x).tanh().sum().backward()

    assert {"MmBackward0", "TanhBackward0", "SumBackward0"} <= set(names(measured))
    events = {event.name: event for event in measured.events()}
    assert events["aten::tanh"].sequence_nr == events["TanhBackward0"].sequence_nr
    assert events["aten::tanh_backward"].parent is events["TanhBackward0"]

    measured.export_chrome_trace(str(tmp_path / "trace.json.gz"))
    with gzip.open(tmp_path / "trace.json.gz") as file:
        trace = json.load(file)["traceEvents"]
    assert {row["ph"] for row in trace if row["name"] == "fwdbwd"} == {"s", "f"}


def test_shapes_memory_stacks_and_flops():
    x, y = torch.ones(64, 32), torch.ones(32, 16)
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as measured:
        x @ y
    (product,) = [event for event in measured.events() if event.name == "aten::mm"]
    assert product.input_shapes == [[64, 32], [32, 16]]
    assert product.memory >= 64 * 16 * 4
    assert "test_shapes_memory_stacks_and_flops" in product.stack[0]
    assert product.flops == 2 * 64 * 32 * 16

    averages = measured.key_averages(group_by_input_shape=True, group_by_stack_n=1)
    table = averages.table()
    for heading in ("Self CPU Mem", "Input Shapes", "Source Location", "Total MFLOPs"):
        assert heading in table


def test_the_same_operator_with_other_shapes_is_a_row_of_its_own():
    with profile(record_shapes=True) as measured:
        for size in (2, 3, 3):
            torch.ones(size).exp()
    rows = [row for row in measured.key_averages(group_by_input_shape=True) if row.key == "aten::exp"]
    assert sorted((row.count, str(row.input_shapes)) for row in rows) == [(1, "[[2]]"), (2, "[[3]]")]


def test_an_exception_ends_the_event():
    with profile() as measured:
        with pytest.raises(RuntimeError):
            torch.ones(2) @ torch.ones(3)
        torch.ones(2).neg()
    assert all(event.end_ns > 0 for event in measured.events())
    assert [event for event in measured.events() if event.name == "aten::neg"][0].parent is None


def test_other_threads_are_not_recorded_and_one_thread_has_one_profile():
    with profile() as measured:
        thread = threading.Thread(target=lambda: torch.ones(2).exp())
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match="already"):
            profile().start()
    assert "aten::exp" not in names(measured)


def test_results_do_not_change_and_nothing_stays_behind():
    x = torch.arange(6.0).view(2, 3)
    expected = torch.softmax(x, 1)
    with profile(record_shapes=True, with_stack=True):
        assert torch.equal(torch.softmax(x, 1), expected)
    assert torch._C._included_keys() == 0
