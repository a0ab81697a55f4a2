"""The dtype of `out=` in reductions: which are allowed, and that sums are computed in it."""

from __future__ import annotations

import pytest

from tests.subject import torch


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_computed_in_the_dtype_of_out(name, dtype):
    x = torch.tensor([[1.5, 2.5], [3.0, 4.0]])
    out = torch.empty(2, dtype=dtype)
    getattr(torch, name)(x, 1, out=out)
    assert torch.equal(out, getattr(x.to(dtype), name)(1).to(dtype))


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
def test_out_has_the_dtype_asked_for(name):
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype double, but got float instead"):
        getattr(torch, name)(x, 1, dtype=torch.float64, out=torch.empty(2))
    out = torch.empty(2, dtype=torch.float64)
    getattr(torch, name)(x, 1, dtype=torch.float64, out=out)
    assert out.tolist() == getattr(x, name)(1).tolist()


@pytest.mark.parametrize("name", ["amax", "amin"])
def test_extrema_keep_the_dtype(name):
    with pytest.raises(RuntimeError, match="Expected the dtype for input and out to match"):
        getattr(torch, name)(torch.ones(2, 3), 1, out=torch.empty(2, dtype=torch.float64))


@pytest.mark.parametrize("name", ["any", "all"])
def test_truth_is_bool(name):
    with pytest.raises(RuntimeError, match="only supports bool tensor for result"):
        getattr(torch, name)(torch.ones(2, 3), 1, out=torch.empty(2))
