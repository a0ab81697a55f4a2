"""What the first compilation in a process imports: what it needs, and nothing of what few programs use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import torch_py as torch

PROGRAM = """
import json, sys
import torch_py as torch
x = torch.ones(4, requires_grad=True)
{statement}
print(json.dumps(sorted(sys.modules)))
"""

# What only some programs ask for.
RARE = (
    "random",
    "runpy",
    "shutil",
    "tempfile",
    "torch_py._dynamo.explaining",
    "torch_py._dynamo.repro",
    "torch_py._dynamo.testing",
    "torch_py._functorch.aot.varying",
    "torch_py._inductor.race",
    "torch_py._inductor.spec",
    "torch_py._inductor.varying",
    "torch_py._shapes.merging",
    "torch_py._shapes.solver",
    "torch_py.cuda",
    "torch_py.export",
    "torch_py.fx._script",
    "torch_py.fx._symbolic_trace",
    "torch_py.fx.interpreter",
    "torch_py.fx.passes",
    "torch_py.fx.proxy",
    "torch_py.testing",
)
# What makes programs, which a process that finds them in the cache does without.
MAKERS = (
    "subprocess",
    "torch_py._generated.lowerings",
    "torch_py._inductor.stages",
    "torch_py._inductor.fuse",
    "torch_py._inductor.ir",
    "torch_py._inductor.lower",
    "torch_py._inductor.print_cpp",
)


TRAINING = "torch.compile(lambda x: torch.relu(x * 2 + 1))(x).sum().backward()"
INFERENCE = "torch.compile(lambda x: torch.relu(x * 2 + 1))(x.detach())"


def modules_of(cache: Path, statement: str) -> set[str]:
    """The modules that a process has after a statement about a tensor `x`."""
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
    environment.pop("TORCH_PY_COMPILE_CHECK", None)
    environment.pop("TORCH_PY_VERIFY", None)
    program = PROGRAM.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_the_compiler_is_imported_by_compilations_only(tmp_path: Path):
    loaded = modules_of(tmp_path, "x * 2")
    assert not [name for name in loaded if name.startswith(("torch_py._dynamo", "torch_py.fx"))]


@pytest.mark.parametrize("statement", [TRAINING, INFERENCE])
def test_rare_modules_are_left_out(statement: str, tmp_path: Path):
    loaded = modules_of(tmp_path, statement)
    assert not loaded & set(RARE)
    assert set(MAKERS) <= loaded


def test_programs_in_the_cache_need_no_compiler(tmp_path: Path):
    modules_of(tmp_path, TRAINING)
    loaded = modules_of(tmp_path, TRAINING)
    assert "torch_py._inductor.graph_cache" in loaded
    assert not loaded & set(MAKERS)


@pytest.mark.parametrize("name", ["explain", "export", "testing", "eval_frame", "decorators"])
def test_names_that_are_imported_later(name: str):
    assert getattr(torch._dynamo, name) is getattr(torch._dynamo, name)
    assert callable(getattr(torch._dynamo, name)) or name in ("testing", "eval_frame", "decorators")


def test_names_of_fx_that_are_imported_later():
    for name in torch.fx.__all__:
        assert getattr(torch.fx, name) is getattr(torch.fx, name)


def test_older_places_of_functions():
    from torch_py._dynamo.eval_frame import reset_code

    assert reset_code is torch._dynamo.reset
