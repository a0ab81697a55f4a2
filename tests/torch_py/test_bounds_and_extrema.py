"""clamp and extrema of elements that equal a bound or are NaN, and of empty tensors."""

from __future__ import annotations

import pytest

from tests.subject import only_torch_py, torch

nan = float("nan")


def gradients(low, high):
    x = torch.tensor([0.0, 1.0, 2.0, nan], requires_grad=True)
    bounds = [None if value is None else torch.tensor(value, requires_grad=True) for value in (low, high)]
    torch.clamp(x, *(bound if bound is None else bound.expand(4) for bound in bounds)).sum().backward()
    return x.grad.tolist(), *(bound if bound is None else bound.grad.item() for bound in bounds)


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0.0, 1.0, ([1, 1, 0, 0], 0.0, 1.0)),
        (1.0, 1.0, ([0, 1, 0, 0], 0.0, 1.0)),
        (2.0, 1.0, ([0, 0, 0, 0], 0.0, 4.0)),
        (1.0, None, ([0, 1, 1, 0], 1.0, None)),
        (None, 1.0, ([1, 1, 0, 0], None, 1.0)),
    ],
)
def test_gradient_of_clamp_at_bounds(low, high, expected):
    assert gradients(low, high) == expected


def test_clamp_by_tensors():
    x = torch.tensor([nan, 0.0, 5.0])
    assert torch.clamp(x, torch.tensor([1.0, nan, 1.0]), torch.tensor(3.0)).isnan().tolist() == [
        True,
        True,
        False,
    ]
    assert torch.clamp(torch.tensor([True, False]), torch.tensor(True)).tolist() == [True, True]
    assert torch.clamp(torch.arange(3), torch.tensor(0.5)).dtype == torch.float32


@pytest.mark.parametrize("name", ["max", "min"])
def test_gradient_of_an_extremum_that_is_nan(name):
    x = torch.tensor([1.0, nan, 3.0, nan], requires_grad=True)
    getattr(x, name)().backward()
    assert x.grad.tolist() == [0, 0.5, 0, 0.5]


@only_torch_py
@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("name", ["amax", "amin"])
def test_extremum_of_an_empty_tensor_is_refused(name, device):
    function = getattr(torch, name)
    with pytest.raises(IndexError, match="reduction dim 0 to have non-zero size"):
        function(torch.empty(0, 3, device=device), 0)
    assert function(torch.empty(0, 3, device=device), 1).shape == (0,)
