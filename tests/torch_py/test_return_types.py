"""The named tuples of results are found before an operator has returned one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.subject import only_torch_py

pytestmark = only_torch_py

# Operators that need several tensors, of which a schema does not say what they need of one another.
_NEEDING_MORE = {"linalg_lstsq", "linalg_solve_ex", "lu_unpack", "triangular_solve"}

_ASKING = """
import warnings
warnings.simplefilter("error")
import torch_py
torch_py.set_default_dtype(torch_py.float16)
print(*(name for name in {names!r} if not hasattr(torch_py.return_types, name)))
"""


def test_names_of_pytorch() -> None:
    peer = pytest.importorskip("torch").return_types
    names = [name for name in dir(peer) if isinstance(getattr(peer, name), type)]
    names = sorted(name for name in names if not name.startswith("_") and not name.endswith("_out"))
    program = [sys.executable, "-c", _ASKING.format(names=names)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert (set(done.stdout.split()), done.stderr) == (_NEEDING_MORE, "")
