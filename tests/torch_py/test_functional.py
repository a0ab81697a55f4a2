"""Functions of torch that are composed in Python or only move elements: atleast, block_diag, repeat, roll."""

from __future__ import annotations

import pytest

from tests.subject import torch


def test_repetition_is_a_copy():
    x = torch.zeros(1, 4, 2)
    for copy in (
        x.repeat(1, 1, 1),
        x.tile(1),
        x.repeat_interleave(1, 0),
        torch.nn.functional.channel_shuffle(x, 1),
    ):
        assert copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_at_least_n_dimensions() -> None:
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
    assert torch.unravel_index(torch.tensor(4, dtype=torch.int8), 6)[0].dtype == torch.int64
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


def test_slices_of_numbers_are_an_index_error() -> None:
    number = torch.tensor(1.0)
    for call in (lambda: torch.slice_copy(number), lambda: torch.slice_scatter(number, torch.ones(2))):
        with pytest.raises(IndexError, match="0-dim"):
            call()


def test_roll_of_an_empty_tensor_keeps_its_shape() -> None:
    assert torch.roll(torch.zeros(0, 3), (1, 2), (4, 5)).shape == (0, 3)


def test_lu_of_a_singular_matrix() -> None:
    zero = torch.zeros(2, 2)
    factors, pivots = torch.lu(zero)
    assert factors.tolist() == zero.tolist() and pivots.tolist() == [1, 2]
    assert torch.lu(zero, get_infos=True)[2].item() == 1


def test_einsum_sums_integers_in_int64() -> None:
    large = torch.tensor([3, 2**30], dtype=torch.int32)
    assert torch.einsum("i->", large).dtype == torch.int64
    assert torch.einsum("i,j->", large, large).item() == (3 + 2**30) ** 2
    assert torch.einsum("i,i->i", large, large).dtype == torch.int32


def test_equal_elements_are_chosen_in_their_order() -> None:
    ties = torch.tensor([1, 2, 1, 2, 1, 2] * 10)
    assert torch.topk(ties, 4).indices.tolist() == [1, 3, 5, 7]
    assert torch.topk(ties, 60).indices.tolist() == [*range(1, 60, 2), *range(0, 60, 2)]
    assert [torch.kthvalue(ties, k).indices.item() for k in (1, 2, 31)] == [0, 2, 1]
    assert torch.argsort(ties, stable=True).tolist() == [*range(0, 60, 2), *range(1, 60, 2)]
    flags = torch.tensor([True, False] * 30)
    assert torch.argsort(flags, descending=True, stable=True).tolist() == [*range(0, 60, 2), *range(1, 60, 2)]
