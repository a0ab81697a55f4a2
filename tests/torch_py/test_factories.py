"""Functions that make tensors and write them to `out=`."""

from __future__ import annotations

import pytest

from tests.subject import torch


@pytest.mark.parametrize("dtype", [torch.float64, torch.int32])
def test_factories_write_to_out(dtype: torch.dtype) -> None:
    out = torch.ones(0, dtype=dtype)
    assert torch.zeros(2, 3, out=out) is out and out.shape == (2, 3) and out.dtype == dtype
    assert torch.arange(3, out=torch.ones(3, dtype=dtype)).tolist() == [0, 1, 2]
    assert torch.full((2,), 3, out=torch.ones(2, dtype=dtype)).tolist() == [3, 3]
    assert torch.eye(2, out=torch.ones(2, 2, dtype=dtype)).dtype == dtype
    assert torch.linspace(0, 4, 3, out=torch.ones(3, dtype=dtype)).tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="dtype.*out"):
        torch.zeros(2, out=out, dtype=torch.float32)
    with pytest.raises(RuntimeError, match="device.*out"):
        torch.zeros(2, out=out, device="meta")


def test_linspace_in_the_precision_of_out() -> None:
    found = torch.linspace(0, 1, 4, out=torch.zeros(4, dtype=torch.float64))
    assert found.tolist() == torch.linspace(0, 1, 4, dtype=torch.float64).tolist()
