"""Derivatives where formulas branch: zeros, margins, corners; and results that require grad."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

F = torch.nn.functional


def leaf(values: Any) -> Any:
    return torch.tensor(values, dtype=torch.float64).requires_grad_()


@pytest.mark.parametrize("values", [[2.0, 0.0, 3.0, 5.0], [0.0, 0.0, 4.0], [2.0, 3.0, 0.0], [1.5, 2.0]])
def test_cumprod_with_zeros_has_all_derivatives(values: list[float]):
    x = leaf(values)
    assert torch.autograd.gradcheck(lambda t: torch.cumprod(t, 0), (x,))
    assert torch.autograd.gradgradcheck(lambda t: torch.cumprod(t, 0), (x,))

    # The third order along the ones, of the sum of y[i] = x[0] * ... * x[i].
    derivative = torch.cumprod(x, 0).sum()
    for _ in range(3):
        derivative = torch.autograd.grad(derivative, x, create_graph=True)[0].sum()
    size = len(values)
    expected = torch.zeros((), dtype=torch.float64)
    for i in range(size):
        for chosen in ((a, b, c) for a in range(i + 1) for b in range(i + 1) for c in range(i + 1)):
            if len(set(chosen)) == 3:
                expected = (
                    expected + torch.tensor([values[j] for j in range(i + 1) if j not in chosen]).prod()
                )
    torch.testing.assert_close(derivative.detach(), expected)


def test_cumprod_of_many_elements_with_a_zero_takes_linear_time():
    def seconds(size: int) -> float:
        x = torch.linspace(0.5, 1.5, size)
        x[size // 2] = 0
        x.requires_grad_()
        start = time.perf_counter()
        torch.cumprod(x, 0).sum().backward()
        return time.perf_counter() - start

    seconds(1000)
    assert min(seconds(200_000) for _ in range(3)) < 5


def test_cumprod_of_small_numbers_before_large_ones_has_finite_gradients():
    x = torch.tensor([1e-30, 1e-30, 1e30, 1e30], requires_grad=True)
    torch.cumprod(x, 0).sum().backward()
    torch.testing.assert_close(x.grad / torch.tensor([1e30, 1e30, 1e-30, 1e-30]), torch.ones(4))


@pytest.mark.parametrize("loss", [F.smooth_l1_loss, F.huber_loss])
def test_losses_have_a_second_derivative_at_zero(loss: Any):
    x = leaf([0.0, 0.5, 2.0])
    first = torch.autograd.grad(loss(x, torch.zeros_like(x), reduction="sum"), x, create_graph=True)[0]
    second = torch.autograd.grad(first.sum(), x)[0]
    assert first.tolist() == [0.0, 0.5, 1.0]
    assert second.tolist() == [1.0, 1.0, 0.0]


def test_classes_that_keep_the_margin_exactly_have_no_gradient():
    x = leaf([[1.0, 0.0, 0.5]])
    F.multi_margin_loss(x, torch.tensor([0])).backward()
    torch.testing.assert_close(x.grad * 3, torch.tensor([[-1.0, 0.0, 1.0]], dtype=torch.float64))

    y = leaf([[1.0, 0.0, 0.5]])
    F.multilabel_margin_loss(y, torch.tensor([[0, -1, -1]])).backward()
    torch.testing.assert_close(y.grad * 3, torch.tensor([[-1.0, 0.0, 1.0]], dtype=torch.float64))


@pytest.mark.parametrize("order", ["nuc", 2, -2])
def test_norms_of_singular_values_have_a_gradient_at_zero(order: Any):
    x = leaf([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    torch.linalg.norm(x, order).backward()
    assert bool(x.grad.isfinite().all())


def test_gradients_of_values_alone_divide_by_no_difference():
    equal = torch.eye(3, dtype=torch.float64).requires_grad_()
    for values in (torch.linalg.svdvals(equal), torch.linalg.eigvalsh(equal)):
        gradient = torch.autograd.grad(values.sum(), equal)[0]
        torch.testing.assert_close(gradient, torch.eye(3, dtype=torch.float64))


def test_results_that_require_grad():
    x = torch.tensor([[0.5, 0.25], [0.125, 0.5]]).requires_grad_()
    assert torch.matrix_power(x, 0).requires_grad
    assert torch.autograd.grad(torch.matrix_power(x, 0).sum(), x)[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]

    for drawn in (torch.bernoulli(x), torch.normal(x, 1.0), torch.normal(1.0, x), torch.normal(x, x)):
        assert drawn.requires_grad
        assert torch.autograd.grad(drawn.sum(), x)[0].tolist() == [[0.0, 0.0], [0.0, 0.0]]

    result = torch.linalg.lstsq(x, torch.ones(2, 1), driver="gelsd")
    assert result.solution.requires_grad
    assert not result.singular_values.requires_grad


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_ormqr_has_derivatives(left: bool, transpose: bool, dtype: Any):
    generator = torch.Generator().manual_seed(1)
    matrix = torch.randn(3, 2, dtype=dtype, generator=generator)
    other = torch.randn(3, 3, dtype=dtype, generator=generator).requires_grad_()
    reflectors, tau = (part.requires_grad_() for part in torch.geqrf(matrix))

    def product(a: Any, t: Any, c: Any) -> Any:
        return torch.ormqr(torch.tril(a, -1), t, c, left, transpose)

    assert torch.autograd.gradcheck(product, (reflectors, tau, other))


@only_torch_py
def test_too_many_combinations_are_refused():
    with pytest.raises(RuntimeError, match="too many combinations of 50 of 100 elements"):
        torch.combinations(torch.ones(100), 50)
    with pytest.raises(RuntimeError, match="too many combinations"):
        torch.combinations(torch.ones(100), 2**40, True)
    assert torch.combinations(torch.arange(5), 5).tolist() == [[0, 1, 2, 3, 4]]
    assert torch.combinations(torch.arange(60), 59).shape == (60, 59)


@only_torch_py
@pytest.mark.parametrize("name", ["scatter", "scatter_add"])
def test_what_is_scattered_may_be_larger_than_the_index(name: str) -> None:
    """Elements that are not scattered have a gradient of zero; PyTorch raises an error."""
    x = torch.zeros(3, 2, dtype=torch.float64, requires_grad=True)
    source = torch.rand(3, 4, dtype=torch.float64, requires_grad=True)
    index = torch.tensor([[2, 0]])
    function = getattr(torch, name)

    assert torch.autograd.gradcheck(lambda a, b: function(a, 0, index, b), [x, source])
    (gradient,) = torch.autograd.grad(function(x, 0, index, source).sum(), source)
    assert gradient.tolist() == [[1, 1, 0, 0], [0] * 4, [0] * 4]

    # What was scattered is not saved, and may be changed.
    changed = source * 1
    result = function(x, 0, index, changed)
    changed.mul_(2)
    result.sum().backward()
