"""Methods of Tensor that are written in Python over operators: nonzero(as_tuple), new, resize, apply_."""

from __future__ import annotations

import warnings

import pytest

from tests.subject import torch


def example() -> torch.Tensor:
    return torch.arange(6.0).reshape(2, 3)


def test_nonzero_as_tuple() -> None:
    x = example()
    for found in (torch.nonzero(x > 3, as_tuple=True), (x > 3).nonzero(as_tuple=True)):
        assert isinstance(found, tuple) and [index.tolist() for index in found] == [[1, 1], [1, 2]]
        assert x[found].tolist() == [4, 5]
    assert [index.tolist() for index in torch.nonzero(torch.tensor(5), as_tuple=True)] == [[0]]
    assert torch.nonzero(x > 3).tolist() == x.gt(3).nonzero().tolist() == [[1, 1], [1, 2]]


def test_new() -> None:
    x = example()
    assert x.new().shape == (0,) and x.new(2, 3).shape == x.new(torch.Size((2, 3))).shape == (2, 3)
    assert x.long().new([1.5]).tolist() == [1] and x.new((2, 3)).tolist() == [2, 3]
    assert x.new(x).data_ptr() == x.data_ptr() and x.new(x.untyped_storage()).shape == (6,)
    for wrong in (3.5, None, torch.tensor([1])):
        with pytest.raises(TypeError):
            x.new(wrong)


def test_resize_out_of_place() -> None:
    x = example()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert x.resize(3, 2).tolist() == [[0, 1], [2, 3], [4, 5]]
        assert x.t().resize_as(torch.zeros(6)).tolist() == [0, 3, 1, 4, 2, 5]
        with pytest.raises(RuntimeError, match="number of elem"):
            x.resize(2, 2)


def test_python_functions_over_elements() -> None:
    x = example()
    assert x.clone().apply_(lambda v: v + 1).tolist() == (x + 1).tolist()
    assert x.clone().map_(x[0], lambda a, b: a * b).tolist() == (x * x[0]).tolist()
    assert x.clone().map2_(x, x, lambda a, b, c: a * b + c).tolist() == (x * x + x).tolist()
    assert x.long().apply_(lambda v: v + 0.5).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="requires grad"):
        x.requires_grad_().apply_(lambda v: v)


def test_dim_order() -> None:
    assert torch.zeros(2, 3, 4).permute(2, 0, 1).dim_order() == (1, 2, 0)
