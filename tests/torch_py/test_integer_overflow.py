"""Integers that overflow wrap around, which `make sanitize` checks to be defined behaviour."""

from __future__ import annotations

import pytest

from tests.subject import torch

SIGNED = [torch.int8, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_pointwise(dtype):
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    x = torch.tensor([least, most], dtype=dtype)
    assert (-x).tolist() == [least, -most]
    assert x.abs().tolist() == [least, most]
    assert x.square().tolist() == [0, 1]
    assert (x * x).tolist() == [0, 1]
    assert (x + 1).tolist() == [least + 1, least]
    assert torch.addcmul(x, x, x, value=2).tolist() == [least, least + 1]
    assert (x - torch.tensor([1, -1], dtype=dtype)).tolist() == [most, least]


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_sums_at_an_index(dtype):
    least, most = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    index = torch.tensor([0, 0, 1])
    source = torch.tensor([most, 2, most], dtype=dtype)
    zeros = torch.zeros(2, dtype=dtype)
    wrapped = [least + 1, most]

    assert zeros.index_add(0, index, source).tolist() == wrapped
    assert zeros.index_add(0, index, source, alpha=2).tolist() == [2, -2]
    assert zeros.scatter_add(0, index, source).tolist() == wrapped
    assert zeros.scatter_reduce(0, index, source, "sum").tolist() == wrapped
    assert zeros.index_put((index,), source, accumulate=True).tolist() == wrapped
    assert torch.ones_like(zeros).scatter_reduce(0, index, source, "prod").tolist() == [-2, most]


@pytest.mark.parametrize("dtype", SIGNED, ids=str)
def test_sums_and_products(dtype):
    most = torch.iinfo(dtype).max
    x = torch.tensor([[most, 1], [1, most]], dtype=dtype)
    assert (x @ x).tolist() == [[2, -2], [-2, 2]]
    assert x.sum(0, dtype=dtype).tolist() == [torch.iinfo(dtype).min] * 2
    assert x.cumsum(1, dtype=dtype)[:, 1].tolist() == [torch.iinfo(dtype).min] * 2
    assert x.prod(dtype=dtype).item() == 1
