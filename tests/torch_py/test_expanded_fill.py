"""In-place fills of expanded tensors: elements that share memory change together, with a warning."""

from __future__ import annotations

import pytest

from tests.subject import torch


@pytest.mark.parametrize(
    "fill, expected",
    [
        (lambda x: x.masked_fill_(torch.tensor([True, False, True]), 5.0), [5, 0, 5]),
        (
            lambda x: x.masked_fill_(torch.tensor([[True, False, False], [False, False, True]]), 5.0),
            [5, 0, 5],
        ),
        (lambda x: x.index_fill_(0, torch.tensor([0]), 5.0), [5, 5, 5]),
        (lambda x: x.index_fill_(1, torch.tensor([0, 2]), 5.0), [5, 0, 5]),
    ],
)
def test_elements_that_share_memory(fill, expected):
    base = torch.zeros(1, 3)
    with pytest.warns(UserWarning, match="on expanded tensors is deprecated"):
        fill(base.expand(2, 3))
    assert base.tolist() == [expected]


def test_in_place_of_strided_tensors_and_gradients():
    base = torch.zeros(3, 4)
    base.t()[1:3].masked_fill_(torch.tensor([True, False, True]), 2.0)
    assert base.tolist() == [[0, 2, 2, 0], [0, 0, 0, 0], [0, 2, 2, 0]]

    x = torch.ones(2, 3, requires_grad=True)
    y = x * 3
    y.masked_fill_(torch.tensor([True, False, False]), 7.0).index_fill_(1, torch.tensor([2]), 1.0)
    (y * y).sum().backward()
    assert x.grad.tolist() == [[0, 18, 0]] * 2

    with pytest.raises(RuntimeError, match="leaf"):
        x.masked_fill_(torch.tensor([True, False, False]), 7.0)
    with pytest.raises(RuntimeError):
        torch.zeros(3).masked_fill_(torch.ones(2, 3, dtype=torch.bool), 1.0)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.zeros(3, dtype=torch.float16).masked_fill_(torch.ones(3, dtype=torch.bool), 1e6)
