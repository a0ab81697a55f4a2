"""gradcheck and gradgradcheck accept right derivatives, find wrong ones, and leave inputs unchanged."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

autograd = torch.autograd


gradcheck, gradgradcheck = autograd.gradcheck, autograd.gradgradcheck


def double(*shape: int, dtype: Any = None) -> Any:
    return torch.randn(*shape, dtype=dtype or torch.float64, requires_grad=True)


class Off(torch.autograd.Function):
    """A derivative that is wrong by one part in a hundred."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad * 2.02


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_finds_wrong_derivatives(fast: bool) -> None:
    with pytest.raises(RuntimeError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(Off.apply, double(2, 2), fast_mode=fast)
    assert gradcheck(Off.apply, double(2, 2), fast_mode=fast, raise_exception=False) is False
    assert gradcheck(Off.apply, double(2, 2), fast_mode=fast, atol=0.1)


@pytest.mark.parametrize("fast", [False, True])
def test_gradcheck_of_complex_functions(fast: bool) -> None:
    z, x = double(3, dtype=torch.complex128), double(3)
    assert gradcheck(lambda z: z * z, z, fast_mode=fast)
    assert gradcheck(lambda z: z.abs(), z, fast_mode=fast)
    assert gradcheck(lambda x, z: x * z, (x, z), fast_mode=fast)
    assert gradcheck(lambda x: x * (1 + 2j), x, fast_mode=fast)
    assert gradgradcheck(lambda x, z: x * z * z, (x, z), fast_mode=fast)


def test_gradcheck_of_several_inputs_and_outputs() -> None:
    assert gradcheck(lambda a, b, c: (a @ b, a.sum() * c), (double(2, 3), double(3, 2), 2.0))
    assert gradcheck(lambda a: a.t().reshape(-1), double(2, 3).detach().t().requires_grad_())


def test_gradcheck_of_outputs_without_gradient() -> None:
    assert gradcheck(lambda a: (a * 2, torch.ones(2, dtype=torch.float64)), double(2))
    with pytest.raises(RuntimeError, match="Numerical gradient for function expected to be zero"):
        gradcheck(lambda a: a.detach() * 2, double(2))


def test_gradcheck_of_inputs_it_cannot_take() -> None:
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(lambda a: a, torch.ones(1))
    with pytest.warns(UserWarning, match="not a double precision"):
        gradcheck(lambda a: a * 1, torch.ones(1, requires_grad=True), atol=1.0)
    with pytest.raises(RuntimeError):
        gradcheck(lambda a: a * 1, torch.ones(1, dtype=torch.float64).expand(3).detach().requires_grad_())


def test_gradcheck_notices_chance() -> None:
    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * (1 + 1e-7 * torch.rand(1, dtype=torch.float64))

    with pytest.raises(RuntimeError, match="not reentrant"):
        gradcheck(Noisy.apply, double(2))
    assert gradcheck(Noisy.apply, double(2), nondet_tol=1e-5)


def test_gradcheck_leaves_inputs_as_they_were() -> None:
    x = double(3)
    before = x.tolist()
    gradcheck(lambda x: x.sin(), x)
    assert x.tolist() == before and x.grad is None


def test_gradcheck_sees_parameters_of_a_module() -> None:
    layer = torch.nn.Linear(2, 2).double()
    x = double(3, 2)
    assert gradcheck(lambda *everything: layer(x), (x, *layer.parameters()))


def test_gradgradcheck_finds_wrong_second_derivatives() -> None:
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2 * ctx.saved_tensors[0].detach()

    assert gradcheck(Square.apply, double(2))
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        gradgradcheck(Square.apply, double(2))


def test_gradgradcheck_with_given_weights() -> None:
    x = double(2, 2)
    assert gradgradcheck(lambda x: x * x, x, torch.ones(2, 2, dtype=torch.float64))
    assert gradgradcheck(lambda x: x.exp(), x, gen_non_contig_grad_outputs=True)
