"""The type stubs: mypy in strict mode accepts the demo and infers what operators return."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.subject import WITH_PEER

REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(WITH_PEER, reason="about torch_py's own stubs")
PROGRAM = """
import torch_py as torch
x = torch.linspace(0, 1, 3, dtype=torch.float32)
with torch.no_grad():
    y = torch.tensor([1.0]) + x
reveal_type(y)
reveal_type(x.sum())
reveal_type(x.shape)
reveal_type(torch.nn.Linear(1, 2).weight)
model: torch.nn.Module = torch.nn.Sequential(torch.nn.ReLU())
optimizer: torch.optim.Optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
torch.linspace(0, 1, "three")
"""


def mypy(*paths: str) -> list[str]:
    pytest.importorskip("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-warn-return-any",
        "--ignore-missing-imports",
        "--config-file",
        os.devnull,
        *paths,
    ]

    environment = {**os.environ, "MYPYPATH": f"{REPOSITORY}{os.pathsep}{REPOSITORY / 'examples'}"}

    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, env=environment
    ).stdout.splitlines()


@pytest.mark.slow
def test_demo_is_typed() -> None:
    assert [line for line in mypy("examples/demo.py") if line.startswith("examples/")] == []


@pytest.mark.slow
def test_operators_are_typed(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    lines = [line.partition(".py:")[2] for line in mypy(str(path)) if "program.py:" in line]
    revealed = [line.split('"')[1].rpartition(".")[2] for line in lines if "Revealed" in line]
    assert revealed == ["Tensor", "Tensor", "Size", "Parameter"]
    errors = [line for line in lines if " error: " in line]
    assert errors and all(line.startswith("12: ") for line in errors), errors
