"""torch.autograd.Function written in Python: setup_context, several outputs, in-place changes, errors."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

autograd = torch.autograd


gradcheck, gradgradcheck = autograd.gradcheck, autograd.gradgradcheck


def double(*shape: int, dtype: Any = None) -> Any:
    return torch.randn(*shape, dtype=dtype or torch.float64, requires_grad=True)


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, scale: float = 1.0) -> Any:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x * x * x * scale

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * 3 * x * x * ctx.scale, None


def test_function_is_differentiated_twice() -> None:
    x = double(3)
    assert gradcheck(lambda x: Cube.apply(x, 2.0), x) and gradgradcheck(lambda x: Cube.apply(x, 2.0), x)
    assert type(Cube.apply(x, 2.0).grad_fn).__name__ == "CubeBackward"


def test_function_with_setup_context() -> None:
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(x: Any, y: Any) -> Any:
            return x * y

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    assert gradcheck(Product.apply, (double(2), double(2)))


def test_function_with_several_outputs() -> None:
    class Split(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            whole = x.floor()
            ctx.mark_non_differentiable(whole)
            return x - whole, whole

        @staticmethod
        def backward(ctx: Any, fraction: Any, whole: Any) -> Any:
            assert whole.tolist() == [0.0, 0.0]
            return fraction

    x = torch.tensor([1.5, 2.5], requires_grad=True)
    fraction, whole = Split.apply(x)
    assert fraction.requires_grad and not whole.requires_grad
    fraction.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_function_in_place() -> None:
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2

    x = torch.ones(2, requires_grad=True)
    y = x * 3
    assert Double.apply(y) is y
    y.sum().backward()
    assert y.tolist() == [6.0, 6.0] and x.grad.tolist() == [6.0, 6.0]


def test_gradients_that_are_not_materialised() -> None:
    seen: list[Any] = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, first: Any, second: Any) -> Any:
            seen.append(second)
            return first

    x = torch.ones(1, requires_grad=True)
    Two.apply(x)[0].backward()
    assert seen == [None]


def test_function_errors() -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad, grad

    with pytest.raises(RuntimeError, match="incorrect number of gradients"):
        Wrong.apply(torch.ones(1, requires_grad=True)).backward()
    with pytest.raises(NotImplementedError):

        class Empty(torch.autograd.Function):
            pass

        Empty.apply(torch.ones(1))


def test_once_differentiable() -> None:
    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 2 * ctx.saved_tensors[0]

    x = torch.tensor(3.0, requires_grad=True)
    weight = torch.tensor(1.0, requires_grad=True)
    (gradient,) = autograd.grad(Once.apply(x), x, weight, create_graph=True)
    assert gradient.item() == 6.0
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.backward()
