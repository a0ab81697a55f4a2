"""A few seconds of hostile calls; `python -m tools.fuzz --seconds 600 --seed N` looks further."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def test_short_run() -> None:
    command = [sys.executable, "-m", "tools.fuzz", "--seconds", "4", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "calls with seed 7: 0 problems" in done.stdout


def test_one_call_again() -> None:
    command = [sys.executable, "-m", "tools.fuzz", "--seed", "7", "--only", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "1 calls with seed 7: 0 problems\n", done.stdout + done.stderr


def test_operators_agree_with_pytorch(tmp_path: Path) -> None:
    """Random calls of operators agree with PyTorch; see below."""
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "tools.fuzz.peer", str(tmp_path / "log"), "11", "0", "1000", "1200"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "made 1200 calls\n", done.stdout + done.stderr


def test_layers_agree_with_pytorch(tmp_path: Path) -> None:
    """The calls are the same every time, so a difference is new.

    Intended ones belong into tools/fuzz/known_differences.py.
    """
    pytest.importorskip("torch")
    command = [sys.executable, "-m", "tools.fuzz.layers", str(tmp_path / "log"), "11", "0", "1000", "400"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "made 400 calls\n", done.stdout + done.stderr


def test_layers_have_calls_that_work() -> None:
    pytest.importorskip("torch")
    from tools.fuzz.layer_targets import targets, working

    known = targets()
    assert len(known) > 280
    assert [str(target) for target in known if working(target) is None] == []


def test_programs_are_compared_in_all_they_leave_behind() -> None:
    import torch_py as torch
    from tools.fuzz.programs import difference

    def left(**changes: Any) -> dict[str, Any]:
        x = torch.arange(6.0)
        found = {"result": [x[1:], 1.5, "text"], "arguments": [x, {"n": 1}], "state": {}, "printed": ""}
        return {**found, **changes}

    assert difference(left(), left()) is None
    shared = torch.arange(6.0)
    assert str(difference(left(), left(arguments=[shared, {"n": 1}]))).startswith("shared memory")
    assert str(difference(left(), left(arguments=[torch.arange(6.0) + 1, {"n": 1}]))).startswith(
        "arguments: values"
    )
    assert str(difference(left(), left(printed="n"))).startswith("printed")
    assert str(difference(left(), left(result="ValueError: text"))).startswith("result: expected list")
    assert str(difference(left(), left(state={"new": 1}))).startswith("state: expected keys")

    refused = "RuntimeError: its base or another view of its base has been modified inplace"
    assert str(difference(left(result=refused), left())).startswith("result: expected str, got list")
    assert difference(left(result=refused, arguments=[shared, shared]), left()) is None


def test_rounding_explains_only_what_it_changes() -> None:
    import torch_py as torch
    from tools.fuzz.programs import difference
    from tools.fuzz.rounding import explains

    equal = torch.full((7,), 0.3) + torch.full((7,), 0.1)

    def left(result: torch.Tensor) -> dict[str, Any]:
        return {"result": [result], "arguments": [], "state": {}}

    def is_explained(eager: Any, compiled: Any) -> bool:
        found = str(difference(left(eager()), left(compiled)))
        return explains(found, left(eager()), left(compiled), lambda: left(eager()), difference)

    def sign_of_nothing() -> torch.Tensor:
        return torch.where(torch.var(equal) > 0, 1.0, -1.0)

    assert is_explained(sign_of_nothing, -sign_of_nothing())
    assert not is_explained(lambda: equal.exp(), equal.exp() + 1e-3)
    assert not is_explained(lambda: equal.exp(), equal.exp().double())
    # A result that depends on rounding excuses no other one, nor do few digits.
    assert is_explained(lambda: (sign_of_nothing(), equal.exp()), (-sign_of_nothing(), equal.exp()))
    assert not is_explained(lambda: (sign_of_nothing(), equal.exp()), (-sign_of_nothing(), equal.exp() * 5))
    short = equal.bfloat16()

    def wave() -> torch.Tensor:
        return ((short * 1.1 + 0.3) * 1.7).sin() * short

    assert not is_explained(wave, wave() * 2) and not is_explained(wave, -wave())
    # Nor are whole numbers and copies rounded.
    assert not is_explained(lambda: torch.where(torch.ones(7).sum() == 7, equal, -equal), -equal)
    assert not is_explained(lambda: torch.where(equal.clone() == equal, 1.0, -1.0), torch.full((7,), -1.0))


def test_expanded_tensors_may_be_refused_for_that_reason_alone() -> None:
    from tools.fuzz.circumstances import Circumstances
    from tools.fuzz.known_differences import MAY_DIFFER

    facts = Circumstances(("float32",), (numpy.ones(3),), ("expanded",), (), in_place=True)

    def is_known(found: str) -> bool:
        return any(row.covers("add.Tensor", found, facts) for row in MAY_DIFFER)

    assert is_known(
        "refuses: RuntimeError more than one element of the written-to tensor refers to a single memory "
        "location; PyTorch: returned"
    )
    assert not is_known("refuses: RuntimeError output with shape [3] does not match; PyTorch: returned")


def test_accidents_are_reported_whatever_was_changed() -> None:
    pytest.importorskip("torch")
    from tests.ops.comparison import Outcome
    from tools.fuzz import peer

    made = next(call for call in map(_call, range(100)) if call is not None and call.changes > 1)
    theirs = Outcome(error=RuntimeError("wrong size"))
    assert peer._different_errors(made, Outcome(error=ValueError("wrong size")), theirs) is None
    for error in (
        SystemError("returned a result with an exception set"),
        KeyError("x"),
        RuntimeError("INTERNAL ASSERT FAILED"),
    ):
        assert peer._different_errors(made, Outcome(error=error), theirs) is not None


def _call(number: int) -> Any:
    from tests.ops.operators import all_operators
    from tools.fuzz import peer

    return peer.make_call(random.Random(number), tuple(all_operators())[:50])
