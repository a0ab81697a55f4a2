"""The first call of a deprecated operator warns, in each of its forms; PyTorch warns as well."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.ops.operators import all_operators
from tests.subject import only_torch_py, torch

_CALLS = {
    "range": "torch.range(0, 3)",
    "chain_matmul": "torch.chain_matmul(x, x)",
    "nuclear_norm": "torch.nuclear_norm(x)",
    "triangular_solve": "torch.triangular_solve(x, x)",
    "cholesky": "x.cholesky()",
    "lu_solve": "x.lu_solve(x, torch.tensor([1, 2, 3], dtype=torch.int32))",
    "qr": "x.qr()",
}
_PROGRAM = """
import sys, warnings
import {module} as torch
x = torch.eye(3)
for call in sys.argv[1:]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        eval(call)
    print(*(f"{{w.category.__name__}}: {{str(w.message).splitlines()[0]}}" for w in caught), sep="|")
"""


def _warnings(*calls: str) -> list[str]:
    command = [sys.executable, "-c", _PROGRAM.format(module=torch.__name__), *calls]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@only_torch_py
def test_every_deprecated_operator_is_here():
    assert {o.base_name for o in all_operators() if o.deprecated} == _CALLS.keys()


def test_the_first_call_warns():
    for name, found in zip(_CALLS, _warnings(*_CALLS.values())):
        assert found.startswith("UserWarning: "), (name, found)


@only_torch_py
@pytest.mark.parametrize("call", ["torch.qr(x)", "x.qr()", "torch.qr(x, out=(x.clone(), x.clone()))"])
def test_one_warning_for_all_forms(call: str):
    text = "UserWarning: torch.qr is deprecated since 0.1; use torch.linalg.qr instead."
    assert _warnings(call, "torch.qr(x)", "x.qr()") == [text, "", ""]


@only_torch_py
def test_the_docstring_says_so():
    assert torch.qr.__doc__.startswith("torch.qr is deprecated since 0.1; use torch.linalg.qr instead.\n\n")
