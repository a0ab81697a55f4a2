"""vmap of a view that names no dimension: without a tag, it is called for each member of the batch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.python_process import run_python
from tests.subject import only_torch_py

pytestmark = [pytest.mark.slow, only_torch_py]

_ENTRIES = """\
library: corner_ops

topics:
  Corner:
    - func: corner(Tensor(a) self, int size) -> Tensor(a)
      structure: view
      dispatch:
        All: corner
      samples: corner
      doc: The first ``size`` rows.
"""
_KERNEL = """\
#include "aten/native/declarations/Corner.h"
#include "aten/ops/slice.h"

namespace at::native {
Tensor corner(const Tensor& self, int64_t size) { return at::slice(self, 0, 0, size, 1); }
}  // namespace at::native
"""
_SAMPLES = """\
from torch_py.testing.operators import SampleInput, samples

@samples("corner")
def corner(make):
    yield SampleInput(make(4, 3), 2)
"""
_PROGRAM = """\
import torch_py as torch
from torch_py.utils.cpp_extension import build_operators

corner = build_operators("operators.yaml").corner
batch = torch.arange(24.0).reshape(2, 4, 3)
members = torch.vmap(lambda member: corner(member, 2))(batch)
print(torch.equal(members, torch.stack([corner(member, 2) for member in batch])))
"""


def test_a_view_without_dimensions_sees_one_member(tmp_path: Path) -> None:
    (tmp_path / "aten" / "native").mkdir(parents=True)
    (tmp_path / "operators.yaml").write_text(_ENTRIES)
    (tmp_path / "aten" / "native" / "Corner.cpp").write_text(_KERNEL)
    (tmp_path / "samples.py").write_text(_SAMPLES)

    assert run_python("-c", _PROGRAM, folder=tmp_path).splitlines()[-1] == "True"
