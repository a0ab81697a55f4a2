"""torch.testing.make_tensor: dtypes and bounds."""

from __future__ import annotations

import pytest

from tests.subject import torch


@pytest.mark.parametrize(
    "name", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
)
def test_make_tensor(name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.testing.make_tensor((3, 4), dtype=dtype, device="cpu")
    assert x.shape == (3, 4) and x.dtype == dtype
    strided = torch.testing.make_tensor(3, 4, dtype=dtype, device="cpu", noncontiguous=True)
    assert strided.shape == (3, 4) and not strided.is_contiguous()


def test_make_tensor_bounds() -> None:
    x = torch.testing.make_tensor((1000,), dtype=torch.float32, device="cpu", low=2, high=3)
    assert 2 <= x.min().item() and x.max().item() <= 3
    y = torch.testing.make_tensor((100,), dtype=torch.int64, device="cpu", low=0, high=2, exclude_zero=True)
    assert (y != 0).all().item()
    assert torch.testing.make_tensor(
        (2,), dtype=torch.float64, device="cpu", requires_grad=True
    ).requires_grad
    with pytest.raises(ValueError):
        torch.testing.make_tensor((2,), dtype=torch.int64, device="cpu", requires_grad=True)
