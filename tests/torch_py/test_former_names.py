"""An operator that was renamed is found by its former name in Python, in torch.ops, in saved programs, in the
formulas of other entries and in C++."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.python_process import REPOSITORY

pytestmark = pytest.mark.slow

_ENTRIES = """\
library: renaming_ops

topics:
  Renamed:
    - func: bounded(Tensor self, float cap) -> Tensor
      variants: function, method, inplace, out
      since: 0.1
      renamed: {from: softlimit.scalar, since: 0.2}
      structure: pointwise
      dtypes: floating
      expr: cap * tanh(self / cap)
      doc: Bounds ``self`` by ``cap``.

    - func: twice_bounded(Tensor self) -> Tensor
      structure: composite
      doc: Bounds ``self`` by 1, twice.
"""
_KERNEL = """\
#include "renaming_ops/ops/softlimit.h"

namespace at::native {
Tensor twice_bounded(const Tensor& self) { return at::softlimit(at::bounded(self, 1.0), 1.0); }
}  // namespace at::native
"""
_START = """
import io, sys, warnings
import torch_py as torch
from torch_py._libraries import add_library
import importlib.util
from pathlib import Path
folder = Path(sys.argv[1])
spec = importlib.util.spec_from_file_location("renaming_ops", next(folder.glob("*.so")))
renaming_ops = importlib.util.module_from_spec(spec)
spec.loader.exec_module(renaming_ops)
add_library("renaming_ops", renaming_ops, folder / "generated/torch_py/_generated")
x = torch.tensor([0.5, 3.0])
expected = torch.tanh(x)

def warnings_of(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function()
    assert torch.allclose(result, expected), result
    return [str(warning.message) for warning in caught]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("renaming")
    (folder / "operators.yaml").write_text(_ENTRIES)
    (folder / "aten/native").mkdir(parents=True)
    (folder / "aten/native/Renamed.cpp").write_text(_KERNEL)
    build = "import sys; from torch_py.utils.cpp_extension import _build; from pathlib import Path; "
    build += "_build.build_shared_object(Path(sys.argv[1]), Path(sys.argv[2]), verbose=False)"
    _run(build, str(folder / "operators.yaml"), str(folder / "build"))
    return folder / "build"


def _run(program: str, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "TORCH_PY_ISAS": "DEFAULT"}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _printed(program: str, library: Path) -> list[str]:
    return _run(_START + program, str(library)).splitlines()


def test_functions_and_methods(library: Path):
    assert _printed(
        """
for call in (
    lambda: renaming_ops.softlimit(x, 1.0),
    lambda: renaming_ops.softlimit(input=x, cap=1.0, out=torch.empty(2)),
    lambda: x.softlimit(1.0),
    lambda: x.clone().softlimit_(1.0),
    lambda: renaming_ops.bounded(x, 1.0),
):
    print(*warnings_of(call))
print(renaming_ops.softlimit.__doc__.splitlines()[0])
""",
        library,
    ) == [
        "renaming_ops.softlimit is called renaming_ops.bounded since 0.2; please use the new name.",
        "",
        "torch.Tensor.softlimit is called torch.Tensor.bounded since 0.2; please use the new name.",
        "torch.Tensor.softlimit_ is called torch.Tensor.bounded_ since 0.2; please use the new name.",
        "",
        "renaming_ops.softlimit is called renaming_ops.bounded since 0.2; please use the new name.",
    ]


def test_torch_ops(library: Path):
    text = "the operator renaming_ops::softlimit.scalar is called renaming_ops::bounded since 0.2; please"
    printed = _printed(
        """
ops = torch.ops.renaming_ops
print(*warnings_of(lambda: ops.softlimit.scalar(x, 1.0)))
print(*warnings_of(lambda: torch._ops.find_overload("renaming_ops::softlimit.scalar")(x, 1.0)))
print(ops.softlimit.scalar is ops.bounded.default, ops.softlimit.overloads(), ops.softlimit_.overloads())
print(hasattr(ops.softlimit, "default"), hasattr(ops, "softlimits"))
""",
        library,
    )
    assert printed[0].startswith(text) and printed[1] == ""
    assert printed[2:] == ["True ['scalar', 'scalar_out'] ['scalar']", "False False"]


def test_saved_programs(library: Path):
    printed = _printed(
        """
class Model(torch.nn.Module):
    def forward(self, x):
        return renaming_ops.bounded(x, 1.0)

from torch_py.export import _saving
program = torch.export.export(Model(), (x,))
present = _saving._target_name
_saving._target_name = lambda node: present(node).replace("bounded", "softlimit.scalar")
file = io.BytesIO()
torch.export.save(program, file)
assert b"renaming_ops::softlimit.scalar" in file.getvalue()
file.seek(0)
print(*warnings_of(lambda: torch.export.load(file).module()(x)))
""",
        library,
    )
    assert "renaming_ops::softlimit.scalar is called renaming_ops::bounded" in printed[0]


def test_cpp_and_registration(library: Path):
    """A call in C++, and functions that a program registers for the operator."""
    printed = _printed(
        """
print(torch.allclose(renaming_ops.twice_bounded(x), torch.tanh(torch.tanh(x))))
from torch_py._custom_ops.registry import any_operator_of
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    print(any_operator_of("renaming_ops::softlimit.scalar", "register_autocast"))
""",
        library,
    )
    assert printed == ["True", "renaming_ops.bounded.default"]


def test_what_is_generated(library: Path):
    generated = library / "generated"
    contract = json.loads((generated / "torch_py/_generated/contract.json").read_text())
    assert contract["former_names"] == {
        "renaming_ops::softlimit.scalar": ["renaming_ops::bounded", "0.2"],
        "renaming_ops::softlimit_.scalar": ["renaming_ops::bounded_", "0.2"],
        "renaming_ops::softlimit.scalar_out": ["renaming_ops::bounded.out", "0.2"],
    }
    assert "- Formerly softlimit.scalar (until 0.2)" in (generated / "docs/operators/Renamed.md").read_text()
    stubs = (generated / "torch_py/_generated/renaming_ops.pyi").read_text()
    assert '@deprecated("renaming_ops.softlimit is called renaming_ops.bounded since 0.2' in stubs
