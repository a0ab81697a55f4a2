"""Methods and functions that are Python over operators: nonzero(as_tuple), unravel_index, Tensor.new, apply_
and their like."""

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


def test_at_least() -> None:
    assert torch.atleast_1d(torch.tensor(1)).shape == (1,)
    first, second = torch.atleast_2d(torch.tensor(1), torch.tensor([1, 2]))
    assert first.shape == (1, 1) and second.shape == (1, 2)
    assert [t.shape for t in torch.atleast_3d([torch.zeros(2), torch.zeros(2, 3)])] == [(1, 2, 1), (2, 3, 1)]
    assert torch.atleast_1d() == ()


def test_block_diag_and_products() -> None:
    assert torch.block_diag().shape == (1, 0)
    assert torch.block_diag(torch.tensor([[1, 2]]), torch.tensor(3)).tolist() == [[1, 2, 0], [0, 0, 3]]
    assert torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([3, 4])).tolist() == [
        [1, 3],
        [1, 4],
        [2, 3],
        [2, 4],
    ]


def test_unravel_index() -> None:
    rows, columns = torch.unravel_index(torch.tensor([3, 5, -1]), (2, 3))
    assert rows.tolist() == [1, 1, 1] and columns.tolist() == [0, 2, 2]
    assert [c.tolist() for c in torch.unravel_index(torch.tensor(4), 6)] == [4]
    assert torch.unravel_index(torch.tensor(0), ()) == ()
    with pytest.raises(TypeError, match="integer"):
        torch.unravel_index(torch.tensor([1.0]), (2, 3))
    with pytest.raises(TypeError, match="int"):
        torch.unravel_index(torch.tensor([1]), (2.0, 3))
    with pytest.raises(ValueError, match="negative"):
        torch.unravel_index(torch.tensor([1]), (2, -3))


def test_broadcast_shapes_refuses_negative_lengths() -> None:
    assert torch.broadcast_shapes((2, 1), (3,), 1) == (2, 3)
    with pytest.raises(ValueError, match="negative"):
        torch.broadcast_shapes((2, -1), (3,))


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
