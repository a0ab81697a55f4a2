"""torch.autograd.grad with is_grads_batched: one pass for all rows, with the results of a loop."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import only_torch_py, torch

grad = torch.autograd.grad


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))


def test_rows_of_a_network() -> None:
    model, x = network(), torch.randn(5, 3)
    parameters = list(model.parameters())
    output = model(x)
    weights = torch.randn(7, 5, 2)

    found = grad(output, parameters, weights, retain_graph=True, is_grads_batched=True)
    for row, weight in enumerate(weights):
        for value, expected in zip(found, grad(output, parameters, weight, retain_graph=True)):
            torch.testing.assert_close(value[row], expected)


@only_torch_py
def test_one_pass_for_all_rows() -> None:
    x = torch.ones(3, requires_grad=True)
    output = x * x
    passes = []
    output.register_hook(lambda g: passes.append(tuple(g.shape)))
    grad(output, x, torch.ones(5, 3), is_grads_batched=True)
    assert passes == [(3,)]


@only_torch_py
def test_several_outputs_of_which_one_has_an_implicit_gradient() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (rows,) = grad([x**2, x.sum()], x, [torch.eye(2), None], is_grads_batched=True)
    assert rows.tolist() == [[3, 1], [1, 5]]


def test_unused_inputs() -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    rows = torch.eye(2)
    assert grad(x * 2, [x, unused], rows, allow_unused=True, is_grads_batched=True)[1] is None
    with pytest.raises(RuntimeError, match="not have been used"):
        grad(x * 2, [x, unused], rows, is_grads_batched=True)


@only_torch_py
def test_zeros_for_unused_inputs() -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    zeros = grad(x * 2, [x, unused], torch.eye(2), is_grads_batched=True, materialize_grads=True)[1]
    assert zeros.shape == (2, 3) and not zeros.any()
    zeros[0] = 1
    assert not zeros[1].any()


def test_the_graph_is_released() -> None:
    x = torch.ones(2, requires_grad=True)
    output = x**3
    grad(output, x, torch.eye(2), retain_graph=True, is_grads_batched=True)
    grad(output, x, torch.eye(2), is_grads_batched=True)
    with pytest.raises(RuntimeError, match="second time"):
        grad(output, x, torch.eye(2), is_grads_batched=True)


def test_gradients_of_rows() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (rows,) = grad(x**3, x, torch.eye(2), create_graph=True, is_grads_batched=True)
    assert rows.tolist() == [[3, 0], [0, 12]]
    assert grad(rows.sum(), x)[0].tolist() == [6, 12]
    (again,) = grad((x**3).sum(), x, create_graph=True)
    assert grad(again, x, torch.eye(2), is_grads_batched=True)[0].tolist() == [[6, 0], [0, 12]]


def test_shapes_are_those_of_rows() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="shape"):
        grad(x * 2, x, torch.ones(2, 3), is_grads_batched=True)


def test_own_functions() -> None:
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert grad(Cube.apply(x), x, torch.eye(2), is_grads_batched=True)[0].tolist() == [[3, 0], [0, 12]]


@only_torch_py
def test_inside_of_vmap() -> None:
    def rows(x: Any) -> Any:
        x = x.detach().requires_grad_()
        return grad(x**2, x, torch.eye(2), is_grads_batched=True)[0]

    found = torch.vmap(rows)(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert found.tolist() == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]
