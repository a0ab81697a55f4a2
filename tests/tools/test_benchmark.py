"""The benchmarks: every case runs, limits are measured, tables and pictures are made."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import torch_py
from tools.benchmark import busy_cores, scaling
from tools.benchmark.speed import check, limits, peers, report, worker
from tools.benchmark.speed.cases import GROUPS, find
from tools.benchmark.speed.measuring import Result

NAMES = [f"{group.name}/{case.name}" for group in GROUPS for case in group.cases]


def test_there_are_at_least_150_cases_with_different_names() -> None:
    assert len(NAMES) >= 150
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_every_case_runs(group: object) -> None:
    for case in group.cases:  # type: ignore[attr-defined]
        torch_py.manual_seed(0)
        case.make(torch_py, peers.maker(torch_py.from_numpy))()


def test_numpy_computes_the_same() -> None:
    case = find("products/float32 64x64x64")
    ours = case.make(torch_py, peers.maker(torch_py.from_numpy))()
    theirs = peers.prepare("numpy", case)

    assert theirs is not None
    torch_py.testing.assert_close(ours, torch_py.from_numpy(theirs()))


def test_limits_are_rates_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS", 0.01)
    found = limits.measured()

    # Bounds that any processor of today keeps.
    assert 1e9 < found.operations["float64"] < found.operations["float32"] * 1.1 < 1e13
    assert 1e8 < found.triad < 1e13
    assert found.seconds(found.operations["float32"], 0, "float32") == pytest.approx(1)


def test_report_names_the_share_of_the_limit_and_the_verdict() -> None:
    group = next(group for group in GROUPS if group.name == "products")
    case = find("products/float32 64x64x64")
    machine = limits.Limits({"float32": case.flops * 1e3}, dict.fromkeys(limits.COPIES, 1e9), 1e9, 1e-8)
    result = Result(case.name, {"torch_py": 2e-3, "torch": 4e-3, "numpy": 1e-3}, ratio=0.5)
    text = report.describe(group, {case.name: result}, machine, threads=1)

    assert "50%" in text
    assert "numpy 2.00" in text
    assert "geometric mean 0.50 (goal 0.45), worst 0.50 (goal 0.7): missed" in text
    assert "| products | 1 | 0.50 | 0.45 | 0.50 | 0.7 | float32 64x64x64 |" in report.summary(
        [(group, {case.name: result})]
    )


def test_picture_has_a_bar_for_each_case(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    group = next(group for group in GROUPS if group.name == "products")
    case = find("products/float32 64x64x64")
    result = Result(case.name, {"torch_py": 2e-3, "torch": 4e-3}, ratio=0.5)

    picture = tmp_path / "ratios.svg"
    report.plot([(group, {case.name: result})], picture)
    assert "products: geometric mean 0.50" in picture.read_text()
    assert case.name in picture.read_text()


def measured_with(ratio: float) -> check.Measured:
    """Every case as fast as its group's goal for the mean, and one case with this ratio."""
    measured = [
        (group, {case.name: Result(case.name, ratio=group.mean_goal) for case in group.cases})
        for group in GROUPS
    ]
    group, results = measured[0]
    results[group.cases[0].name].ratio = ratio
    return measured


def test_check_accepts_goals_and_slack_and_notices_a_slow_case_and_a_slow_group() -> None:
    limit = check.limit_of_case(GROUPS[0], GROUPS[0].cases[0].name)
    name = f"{GROUPS[0].name}/{GROUPS[0].cases[0].name}"
    assert check.problems(measured_with(limit)) == []
    assert check.problems(measured_with(2 * limit)) == [f"{name}: {2 * limit:.2f}, at most {limit:.2f}"]

    measured = measured_with(limit)
    _, results = measured[1]
    for result in results.values():
        result.ratio = GROUPS[1].mean_goal * 2.1
    assert [words for words in check.problems(measured) if "geometric mean" in words]


def test_check_measures_slow_cases_again() -> None:
    limit = check.limit_of_case(GROUPS[0], GROUPS[0].cases[0].name)
    asked = []

    def measure(name: str) -> Result:
        asked.append(name)
        return Result(name, ratio=limit * (1.5 if len(asked) == 1 else 0.5))

    measured = measured_with(2 * limit)
    check.retry(measured, measure)
    assert asked == [f"{GROUPS[0].name}/{GROUPS[0].cases[0].name}"] * 2
    assert check.problems(measured) == []


def test_known_slow_cases_exist() -> None:
    assert set(check.KNOWN) <= {*NAMES, *(group.name for group in GROUPS)}


def test_slowed_calls_are_made_three_times() -> None:
    made = []
    repeated = worker.repeated(lambda: made.append(1), 3)
    assert repeated is not None
    repeated()
    assert len(made) == 3


def test_columns_of_the_picture_keep_the_order_of_the_groups() -> None:
    groups = [(group, {case.name: Result(case.name, ratio=1.0) for case in group.cases}) for group in GROUPS]
    columns = report.in_columns(groups)

    assert [panel for column in columns for panel in column] == groups
    assert len(columns) == 3
    assert max(map(report.rows_of, columns)) <= 0.5 * report.rows_of(groups)


def test_scaling_measures_every_size(capsys: pytest.CaptureFixture[str]) -> None:
    assert scaling.main(["--largest", "32"]) == 0
    assert "graph, nodes" in capsys.readouterr().out


@pytest.mark.parametrize("name", busy_cores.CASES)
def test_steps_on_busy_cores_run(name: str) -> None:
    threads = torch_py.get_num_threads()
    try:
        with busy_cores.busy({min(os.sched_getaffinity(0))}):
            assert busy_cores.time_step(name, "torch_py", 2, 0.001) > 0
    finally:
        torch_py.set_num_threads(threads)
