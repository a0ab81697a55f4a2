"""First and second derivatives agree with PyTorch's, at ordinary and at special points.

tools/fuzz/gradients.py makes the calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ops.operators import Operator, enrolled
from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(WITH_PEER, reason="compares torch_py with PyTorch")

_CALLS = 12  # of each operator; `python -m tools.fuzz --gradients` makes more


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """The tensors are small, and threads that wait for one another cost most of the time."""
    peer = pytest.importorskip("torch")
    before = [(library, library.get_num_threads()) for library in (torch, peer)]
    for library, _ in before:
        library.set_num_threads(1)
    yield
    for library, count in before:
        library.set_num_threads(count)


@enrolled(lambda operator: operator.makes_tensors and operator.called is None)
def test_derivatives_agree_with_pytorch(operator: Operator):
    from tools.fuzz import gradients

    if operator not in gradients.compared_operators():
        pytest.skip("PyTorch does not have it")

    found: list[Any] = []
    for number, made in gradients.calls_of(operator, _CALLS):
        difference = gradients.difference(made)
        if difference is not None and not gradients.is_known(made, difference):
            found.append(f"call {number}: {made}: {difference}")
    assert not found, "\n".join(found)


def test_differences_are_reported():
    from tests.ops.operators import all_operators
    from tools.fuzz import gradients

    operator = next(o for o in all_operators() if str(o) == "polar")
    differences = [gradients.difference(made) for _, made in gradients.calls_of(operator, 40)]
    assert any(text is not None and text.startswith("first:") for text in differences)


def test_a_short_run(tmp_path: Path):
    import subprocess
    import sys

    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "tools.fuzz", "--gradients", "--operator", "cumprod", "--only", "3"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=300)
    assert done.stdout == "1 calls with seed 0: 0 problems\n", done.stdout + done.stderr
