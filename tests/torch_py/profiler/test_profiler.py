"""torch.profiler: ranges, schedules, tables and traces."""

import json
import time

import pytest

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
    assert table.index("inner") < table.index("outer") and "record_function only" in table

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
