"""torch.autograd.grad and backward from Python: inputs, outputs, weights, batches and warnings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from torch_py.utils._python_dispatch import TorchDispatchMode

autograd = torch.autograd


# grad and backward
# ------------------------------------------------------------


def test_grad_leaves_grad_alone() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (gradient,) = autograd.grad((x * x).sum(), x)
    assert gradient.tolist() == [2.0, 4.0] and x.grad is None


def test_grad_of_higher_order() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    y = x**4
    for expected in (32.0, 48.0, 48.0, 24.0):
        (y,) = autograd.grad(y, x, create_graph=True)
        assert y.item() == expected


def test_unused_inputs() -> None:
    x, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        autograd.grad(x.sum(), [x, unused])
    assert autograd.grad(x.sum(), [x, unused], allow_unused=True)[1] is None
    assert autograd.grad(x.sum(), [x, unused], materialize_grads=True)[1].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError):
        autograd.grad(x.sum(), [x, unused], allow_unused=False, materialize_grads=True)


def test_backward_into_chosen_inputs() -> None:
    x, y = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    autograd.backward((x * y).sum(), inputs=[x])
    assert x.grad.item() == 1.0 and y.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        autograd.backward((x * y).sum(), inputs=[])


def test_several_outputs_and_weights() -> None:
    x = torch.ones(2, requires_grad=True)
    autograd.backward([x * 2, (x * x).sum()], [torch.tensor([1.0, 10.0]), None])
    assert x.grad.tolist() == [4.0, 22.0]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda x: x.backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
        (lambda x: x.backward(torch.ones(3)), RuntimeError, "Mismatch in shape"),
        (lambda x: autograd.grad(x.sum(), []), RuntimeError, "cannot be empty"),
        (lambda x: x.backward("one"), TypeError, "gradients can be either Tensors or None"),
        (lambda x: torch.ones(1).backward(), RuntimeError, "does not require grad"),
    ],
)
def test_errors(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call(torch.ones(2, requires_grad=True) * 2)


@only_torch_py
def test_as_many_gradients_as_outputs() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        autograd.grad([x * 2], x, [torch.ones(2), torch.ones(2)])


@only_torch_py
def test_gradients_that_are_not_asked_for_are_not_computed() -> None:
    class Products(TorchDispatchMode):
        count = 0

        def __torch_dispatch__(self, operator: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.count += operator is torch.ops.aten.mm.default
            return operator(*args, **(kwargs or {}))

    x, weight = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    output = torch.mm(x, weight)
    for inputs, products in (([x], 1), ([weight], 1), ([x, weight], 2)):
        for create_graph in (False, True):
            with Products() as counted:
                autograd.grad(output, inputs, torch.ones(2, 4), retain_graph=True, create_graph=create_graph)
            assert counted.count == products
    with Products() as counted:
        output.backward(torch.ones(2, 4), inputs=[weight])
    assert counted.count == 1 and x.grad is None


def test_batched_gradients() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (rows,) = autograd.grad(x * x, x, torch.eye(2), is_grads_batched=True)
    assert rows.tolist() == [[2.0, 0.0], [0.0, 4.0]]


# Warnings
# ------------------------------------------------------------


def test_asking_a_computed_tensor_for_its_gradient_warns() -> None:
    leaf = torch.ones(2, requires_grad=True)
    computed = leaf * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert computed.grad is None


def test_no_warning_where_the_gradient_is_kept(recwarn: pytest.WarningsRecorder) -> None:
    leaf = torch.ones(2, requires_grad=True)
    kept = leaf * 2
    kept.retain_grad()
    assert leaf.grad is None
    assert kept.grad is None
    assert torch.ones(2).grad is None
    assert kept.detach().grad is None
    kept.sum().backward()
    assert kept.grad.tolist() == [1, 1] and not recwarn.list


def test_grad_variables_is_deprecated() -> None:
    x = torch.ones(1, requires_grad=True)
    with pytest.warns(FutureWarning, match="grad_variables"):
        torch.autograd.backward([x * 2], grad_variables=[torch.ones(1)])
    assert x.grad.item() == 2
    with pytest.raises(RuntimeError, match="both passed"), pytest.warns(FutureWarning):
        torch.autograd.backward([x * 2], [torch.ones(1)], grad_variables=[torch.ones(1)])


def test_inputs_may_be_an_iterator() -> None:
    layer = torch.nn.Linear(2, 1)
    weight, bias = torch.autograd.grad(layer(torch.ones(3, 2)).sum(), layer.parameters())
    assert weight.tolist() == [[3, 3]] and bias.tolist() == [3]
    layer(torch.ones(3, 2)).sum().backward(inputs=[layer.bias])
    torch.autograd.backward(iter([layer(torch.ones(1, 2)).sum()]), inputs=layer.parameters())
    assert layer.bias.grad.tolist() == [4] and layer.weight.grad.tolist() == [[1, 1]]
