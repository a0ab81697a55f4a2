"""The benchmark of torch.compile: its models run, and it counts the time of every process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import torch_py as torch
from tools.benchmark.compiling import child, processes, report
from tools.benchmark.compiling.models import MODELS

ROOT = Path(__file__).resolve().parents[2]
WORK = "sum(i * i for i in range(3_000_000))"


@pytest.mark.parametrize("name", MODELS)
def test_models_run(name: str) -> None:
    model = MODELS[name](torch, True)
    before = [parameter.clone() for parameter in model.parameters]

    result = model.step(model.function)

    assert result is None or torch.isfinite(result).all()
    assert model.is_trained == bool(model.parameters)
    for parameter, value in zip(model.parameters, before):
        assert torch.equal(parameter, value)
        assert parameter.grad is None


def test_every_trained_parameter_gets_a_gradient() -> None:
    for name, make in MODELS.items():
        model = make(torch, True)
        if model.is_trained:
            model.function(*model.arguments).backward()
            assert all(parameter.grad is not None for parameter in model.parameters), name


def test_the_time_of_orphans_counts() -> None:
    """A process that starts another and does not wait for it."""
    own = processes.run([sys.executable, "-c", WORK], ROOT, dict(os.environ), 60)
    command = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {WORK!r}])"
    orphan = processes.run([sys.executable, "-c", command], ROOT, dict(os.environ), 60)

    assert own.succeeded and orphan.succeeded
    assert orphan.cpu_seconds > 0.8 * own.cpu_seconds > 0.05


def test_commands_that_fail_or_hang() -> None:
    failed = processes.run([sys.executable, "-c", "raise SystemExit('why')"], ROOT, dict(os.environ), 60)
    hanging = processes.run([sys.executable, "-c", "while True: pass"], ROOT, dict(os.environ), 0.5)
    assert not failed.succeeded and failed.errors.strip() == "why"
    assert not hanging.succeeded and "stopped after 0 s" in hanging.errors


class Subject:
    """Results as if they had been measured."""

    def __init__(self, library: str, found: dict[str, Any]) -> None:
        self.library = library
        self.found = found

    def measure(self, name: str, is_warm: bool = False) -> Any:
        return self.found.get(name)


def test_tables() -> None:
    ours = Subject("torch_py", {"guards": {"additions": 0.4}, "MLP": {"compiled": 0.001, "eager": 0.002}})
    theirs = Subject("torch", {"guards": {"additions": 2.0}, "MLP": {"compiled": 0.004, "eager": 0.005}})
    figures = [figure for figure in report.FIGURES if figure.child in ("guards", "layer")]

    text, results = report.figures_table([ours, theirs], figures)  # type: ignore[list-item]
    assert [line.split()[-4:] for line in text.splitlines()[2:]] == [
        ["0.4", "2", "0.5", "reached"],
        ["-", "-", "0.03", "failed"],
    ]
    assert results[0]["torch_py"] == 0.4

    text, results = report.models_table([ours, theirs], ["MLP"])  # type: ignore[list-item]
    assert text.splitlines()[2].split() == ["MLP", "1", "2", "4", "5", "0.5", "0.25"]
    assert "as fast as torch.compile: 1 of 1" in text
    assert "slower than 1.03 eager: none" in text


@pytest.mark.parametrize("figure", ["guards", "call", "layer"])
def test_figures_are_measured(figure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_once(statement: str, **names: Any) -> float:
        exec(statement, names)
        return 1.0

    monkeypatch.setattr(child, "seconds_of", run_once)
    assert child.FIGURES[figure](torch)
