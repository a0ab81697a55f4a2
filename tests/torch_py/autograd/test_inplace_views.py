"""In-place view operators (squeeze_, transpose_ and others), with and without a history."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

CALLS = {
    "squeeze_": lambda t: t.squeeze_(),
    "squeeze_dim": lambda t: t.squeeze_(0),
    "squeeze_dims": lambda t: t.squeeze_((0, 2)),
    "unsqueeze_": lambda t: t.unsqueeze_(1),
    "transpose_": lambda t: t.transpose_(1, 3),
    "swapaxes_": lambda t: t.swapaxes_(0, -1),
    "swapdims_": lambda t: t.swapdims_(1, 2),
    "as_strided_": lambda t: t.as_strided_((3, 2), (2, 1), t.storage_offset()),
}


def weighted(tensor: Any) -> Any:
    flat = tensor.reshape(-1)
    return (flat * torch.arange(1.0, flat.numel() + 1)).sum()


def example(requires_grad: bool = False) -> Any:
    return torch.arange(12.0).reshape(2, 1, 3, 2)[:1].detach().requires_grad_(requires_grad)


@pytest.mark.parametrize("name", CALLS)
def test_changes_itself(name: str) -> None:
    tensor = example()
    before = tensor._version
    pointer = tensor.data_ptr()
    assert CALLS[name](tensor) is tensor
    assert tensor.data_ptr() == pointer
    assert tensor._version == before + 1


@pytest.mark.parametrize("name", CALLS)
def test_gradients_follow(name: str) -> None:
    x = example(True)
    changed = CALLS[name](x * 2)
    same = CALLS[name](example())
    assert changed.shape == same.shape
    (found,) = torch.autograd.grad(weighted(changed), x)
    place = torch.zeros(12)
    CALLS[name](place.as_strided(x.shape, x.stride()))  # a view of a leaf without gradient may change
    expected = torch.zeros_like(x)
    reached = CALLS[name](torch.arange(6.0).reshape(1, 1, 3, 2)).reshape(-1).long()
    expected.view(-1)[reached] = 2 * torch.arange(1.0, reached.numel() + 1)
    assert torch.equal(found, expected)


def test_a_leaf_refuses() -> None:
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        example(True).squeeze_()
    with torch.no_grad():
        assert example(True).squeeze_().shape == (3, 2)


def test_a_view_keeps_its_base() -> None:
    x = torch.ones(3, requires_grad=True)
    base = x * 2
    view = base[:2]
    view.unsqueeze_(0)
    assert view.shape == (1, 2) and view._base is base
    view.mul_(3)
    base.sum().backward()
    assert x.grad.tolist() == [6, 6, 2]


def test_other_views_go_on() -> None:
    x = torch.ones(2, 3, requires_grad=True)
    base = x * 2
    column = base[:, 0]
    base.t_()
    assert base.shape == (3, 2) and column.shape == (2,)
    column.mul_(5)
    (base * torch.tensor([[1.0, 2], [3, 4], [5, 6]])).sum().backward()
    assert x.grad.tolist() == [[10, 6, 10], [20, 8, 12]]


def test_as_strided_with_overlap() -> None:
    x = torch.ones(6, requires_grad=True)
    changed = (x * 1).as_strided_((2, 2), (1, 1), 1)
    changed.sum().backward()
    assert x.grad.tolist() == [0, 1, 2, 1, 0, 0]


def test_as_strided_counts_from_the_storage() -> None:
    x = torch.ones(6, requires_grad=True)
    part = (x * 1)[2:]
    part.as_strided((2,), (1,), 3).sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 1, 1, 0]


def test_as_strided_of_expanded_shares() -> None:
    x = torch.ones(1, requires_grad=True)
    expanded = x.expand(3)
    expanded.as_strided((1,), (1,)).sum().backward()
    assert x.grad.tolist() == [1]


# Views made without grad mode do not know about later changes of their bases.

NO_GRAD = (
    "A view was created in no_grad mode and its base or another view of its base has been modified inplace"
)


def untracked(base: Any) -> Any:
    with torch.no_grad():
        return base[:2]


def test_untracked_view_of_a_changed_base() -> None:
    x = torch.ones(3, requires_grad=True)
    base = x * 2
    view = untracked(base)
    assert view.grad_fn is None
    base.mul_(2)
    with pytest.raises(RuntimeError, match=NO_GRAD):
        view + 1
    with pytest.raises(RuntimeError, match=NO_GRAD):
        _ = view.grad_fn
    with torch.no_grad():
        assert (view + 1).tolist() == [5, 5]


def test_untracked_view_of_a_base_that_got_a_history() -> None:
    base = torch.ones(3)
    view = untracked(base)
    assert (view + 1).tolist() == [2, 2]
    base.mul_(torch.ones(3, requires_grad=True))
    with pytest.raises(RuntimeError, match=NO_GRAD):
        view + 1


def test_untracked_view_without_changes() -> None:
    base = torch.ones(3, requires_grad=True) * 2
    assert (untracked(base) + 1).tolist() == [3, 3]


# view(dtype)


def test_bits_have_no_gradient() -> None:
    x = torch.ones(2, 4, requires_grad=True)
    for dtype in (torch.int32, torch.float32, torch.float64, torch.complex64):
        seen = x.view(dtype)
        assert not seen.requires_grad and seen.grad_fn is None
        assert seen.data_ptr() == x.data_ptr()


def test_changes_show_through_bits() -> None:
    x = torch.zeros(4)
    bits = x.view(torch.int32)
    bits[1] = 0x3F800000
    assert x.tolist() == [0, 1, 0, 0]
    assert x._version == 1
