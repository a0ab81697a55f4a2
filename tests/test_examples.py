"""The examples of the repository, and the benchmarks' bookkeeping."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from tests.python_process import REPOSITORY, run_python
from tests.subject import WITH_PEER

pytestmark = pytest.mark.skipif(WITH_PEER, reason="runs torch_py in processes of its own")


@pytest.mark.slow
def test_digits_are_recognised(tmp_path: Path) -> None:
    for module in ("sklearn", "matplotlib", "tqdm"):
        pytest.importorskip(module)
    output = run_python("examples/demo.py", "--part", "digits", "--epochs", "8", "--output", str(tmp_path))
    assert "held-out digits are recognised" in output
    for name in ("loss.png", "predictions.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "digits.pt").stat().st_size > 100_000


@pytest.mark.slow
def test_operator_is_added(tmp_path: Path) -> None:
    output = run_python("examples/demo.py", "--part", "operator", "--output", str(tmp_path))
    for step in (
        "generated, compiled and imported it",
        "differentiated it twice",
        "second derivative with finite differences",
    ):
        assert step in output


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    sorted(
        path.stem for path in (REPOSITORY / "examples").glob("*.py") if "def training(" in path.read_text()
    ),
)
def test_example_learns(name: str) -> None:
    """A few dozen steps of every example reduce the loss."""
    pytest.importorskip("sklearn")
    output = run_python(f"examples/{name}.py", "--small", "--steps", "60")
    losses = [
        float(line.split("loss")[1].split()[0]) for line in output.splitlines() if line.startswith("step")
    ]
    assert len(losses) >= 10 and min(losses[-3:]) < losses[0], output


@pytest.mark.slow
def test_killed_and_resumed_run_has_the_same_bits() -> None:
    pytest.importorskip("sklearn")
    assert "the same bits" in run_python("examples/resume.py", "--proof", "--steps", "60", "--every", "10")


def test_call_benchmark_runs() -> None:
    output = run_python("-m", "tools.benchmark", "calls", "--rounds", "1", "--seconds", "0.001")
    assert "add with requires_grad" in output and "small forward+backward" in output


def test_memory_benchmark_runs() -> None:
    output = run_python("-m", "tools.benchmark", "memory", "--small", "--steps", "2", "changing shapes")
    row = next(line for line in output.splitlines() if line.startswith("changing shapes"))
    assert 20 < float(row.split()[2]) < 2000


def test_build_benchmark_finds_the_end_of_a_topic(tmp_path: Path) -> None:
    build_times = importlib.import_module("tools.benchmark.build_times")
    (tmp_path / "native_functions.yaml").write_text(
        "topics:\n  A:\n    - func: a() -> Tensor\n\n  B:\n    - func: b() -> Tensor\n"
    )

    tree = build_times.Tree.__new__(build_times.Tree)
    tree.folder = tmp_path
    tree.declare("A", "\n    - func: c() -> Tensor\n")
    tree.declare("B", "\n    - func: d() -> Tensor\n")

    text = (tmp_path / "native_functions.yaml").read_text()
    assert [line.strip() for line in text.splitlines() if "func" in line or line.endswith(":")] == [
        "topics:",
        "A:",
        "- func: a() -> Tensor",
        "- func: c() -> Tensor",
        "B:",
        "- func: b() -> Tensor",
        "- func: d() -> Tensor",
    ]
