"""What `python -m tools.programs.compiled` makes of runs, and programs that it shares with the fuzzer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.python_process import run_python
from tools.fuzz.shortening import shortened
from tools.programs.compiled.__main__ import difference, groups, row


def _run(losses: list[float], **more: Any) -> dict[str, Any]:
    facts = {"losses": losses, "step": 0.002, "seconds": 1.0, "graphs": 1, "breaks": {}, "warnings": []}
    return {**facts, **more}


def test_rows() -> None:
    runs = {
        "none": _run([2.0, 1.0]),
        "aot_eager": _run([2.0, 1.0]),
        "inductor": _run([2.0, 1.01], seconds=3.5),
    }
    assert row("einops_models", "layers", runs) == (
        "| einops: layers | **no** | 0e+00, 1e-02 | 1 | 0 | 2.5 | 2.0 | 2.0 |"
    )

    runs["inductor"] = _run([2.0, 1.0], breaks={"call of print": 2}, warnings=["f runs eagerly"])
    assert "| yes | 0e+00, 0e+00 | 1 | 2 × call of print; eager: f runs eagerly |" in row(
        "examples", "vae", runs
    )
    del runs["inductor"]
    assert row("examples", "vae", runs).startswith("| vae | no | ended in inductor |")


def test_differences_are_relative_to_the_loss() -> None:
    assert difference([100.0, 2.0], [101.0, 2.0]) == pytest.approx(0.01)


def test_groups_have_files() -> None:
    assert groups()[0] == "examples" and "timm_models" in groups()


@pytest.mark.slow
def test_an_example_is_compiled() -> None:
    pytest.importorskip("sklearn")
    plain, compiled = (
        run_python("examples/vae.py", "--small", "--steps", "3", *options).split("loss")[-1].split()[0]
        for options in ([], ["--compile", "aot_eager"])
    )
    assert plain == compiled


def test_programs_are_shortened() -> None:
    text = "def f(x):\n    a = 1\n    if x:\n        wrong = 2\n    b = 3\n    return x"

    def is_wrong(shorter: str) -> bool:
        try:
            return "wrong" in compile(shorter, "shorter", "exec").co_consts[0].co_varnames
        except SyntaxError:
            return False

    assert shortened(text, is_wrong, 10.0) == "def f(x):\n    wrong = 2\n    return x"
    assert shortened(text, lambda shorter: False, 10.0) == text
