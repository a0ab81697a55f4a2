"""The operators that a program calls, for builds with those alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.python_process import REPOSITORY

_PROGRAM = """
import sys
import torch_py as torch
layer = torch.nn.Linear(3, 2)
layer(torch.ones(4, 3)).sum().backward()
raise SystemExit(len(sys.argv))
"""


def test_a_run(tmp_path: Path):
    script, names = tmp_path / "program.py", tmp_path / "names.txt"
    script.write_text(_PROGRAM)
    command = [
        sys.executable,
        "-m",
        "codegen",
        "select",
        "--to",
        str(names),
        "--from-run",
        str(script),
        "--x",
    ]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr

    found = names.read_text().split()
    assert found == sorted(found) and f"{names}: {len(found)} operators\n" in done.stdout
    # Those of layers, of backward, and of initial values.
    assert {"linear", "sum", "_linear_backward_weight", "uniform_", "ones"} <= set(found)
    assert not {"relu", "AccumulateGrad"} & set(found)
