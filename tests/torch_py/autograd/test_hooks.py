"""Hooks of tensors, nodes and saved tensors; retained gradients; anomaly mode."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import torch

grad = torch.autograd.grad


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


def values(tensor: Any) -> Any:
    return tensor.detach().tolist()


# Tensors
# ------------------------------------------------------------


def test_hook_sees_and_replaces() -> None:
    x = leaf(1, 2)
    y = x * 3
    seen = []
    handle = y.register_hook(lambda gradient: seen.append(values(gradient)))
    y.register_hook(lambda gradient: gradient * 10)
    y.sum().backward()
    assert seen == [[1, 1]] and values(x.grad) == [30, 30]
    handle.remove()
    (x * 3).sum().backward()
    assert len(seen) == 1


def test_hook_of_a_leaf_sees_the_sum_once_per_backward() -> None:
    x = leaf(1, 2)
    seen = []
    x.register_hook(lambda gradient: seen.append(values(gradient)) or gradient * 2)
    for _ in range(2):
        (x * 3 + x).sum().backward()
    assert seen == [[4, 4], [4, 4]] and values(x.grad) == [16, 16]
    assert values(grad((x * 3).sum(), x)[0]) == [6, 6]


def test_hooks_stay_with_the_value_retained_gradients_move() -> None:
    x = leaf(1.0) * 2
    x.retain_grad()
    seen = []
    x.register_hook(lambda gradient: seen.append(("before", values(gradient))))
    x.mul_(3)
    x.register_hook(lambda gradient: seen.append(("after", values(gradient))))
    x.sum().backward()
    assert seen == [("after", [1]), ("before", [3])]
    assert values(x.grad) == [1]


def test_hook_of_an_unused_output_gets_none() -> None:
    first, second = (leaf(1, 2) * 1).split(1)
    seen = []
    second.register_hook(seen.append)
    first.sum().backward()
    assert seen == [None]


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda gradient: torch.ones(5), RuntimeError, "has changed the size of value"),
        (lambda gradient: 3, TypeError, "int"),
    ],
)
def test_hook_that_returns_nonsense(hook: Any, error: Any, message: str) -> None:
    x = leaf(1, 2)
    x.register_hook(hook)
    with pytest.raises(error, match=message):
        (x * 2).sum().backward()


def test_hooks_need_a_gradient() -> None:
    message = "cannot register a hook on a tensor that doesn't require gradient"
    with pytest.raises(RuntimeError, match=message):
        torch.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="can't retain_grad on Tensor that has requires_grad=False"):
        torch.ones(2).retain_grad()
    message = "post accumulate grad hooks cannot be registered on non-leaf tensors"
    with pytest.raises(RuntimeError, match=message):
        (leaf(1.0) * 2).register_post_accumulate_grad_hook(print)


def test_error_in_a_hook_comes_out() -> None:
    x = leaf(1, 2)

    def hook(gradient: Any) -> None:
        raise KeyError("from the hook")

    y = x * 2
    handle = y.register_hook(hook)
    with pytest.raises(KeyError, match="from the hook"):
        y.sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    assert values(x.grad) == [2, 2]


def test_post_accumulate_hook() -> None:
    x = leaf(1, 2)
    seen = []

    def step(parameter: Any) -> None:
        assert parameter is x
        seen.append(values(parameter.grad))
        parameter.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * 3).sum().backward()
    assert seen == [[3, 3]] and x.grad is None
    handle.remove()
    (x * 3).sum().backward()
    assert values(x.grad) == [3, 3]


def test_retain_grad() -> None:
    x = leaf(1, 2)
    y = x * 3
    y.retain_grad()
    y.retain_grad()
    assert y.retains_grad and not x.retains_grad
    (y * y).sum().backward(retain_graph=True)
    assert values(y.grad) == [6, 12]
    y.register_hook(lambda gradient: gradient * 2)
    z = y.sum()
    z.backward()
    assert values(y.grad) == [8, 14]  # after the hooks, added to the existing gradient


# Nodes
# ------------------------------------------------------------


def test_node_hooks() -> None:
    x = leaf(1, 2)
    y = x * 3
    seen = []
    y.grad_fn.register_prehook(lambda grad_outputs: (grad_outputs[0] * 2,))
    y.grad_fn.register_hook(
        lambda grad_inputs, grad_outputs: seen.append((values(grad_inputs[0]), values(grad_outputs[0])))
    )
    y.sum().backward()
    assert seen == [([6, 6], [2, 2])] and values(x.grad) == [6, 6]


def test_graph_can_be_walked() -> None:
    x = leaf(1, 2)
    y = (x * x).sum()
    (product, number), *_ = y.grad_fn.next_functions
    assert product.name() == "MulBackward0" and number == 0
    leaves = [node for node, _ in product.next_functions]
    assert leaves[0] is leaves[1] and leaves[0].name().endswith("AccumulateGrad")
    assert y.grad_fn is y.grad_fn


# Saved tensors
# ------------------------------------------------------------


def test_saved_tensor_hooks() -> None:
    x = leaf(1, 2)
    packed = []

    def pack(tensor: Any) -> int:
        packed.append(tensor.detach().clone())
        return len(packed) - 1

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda index: packed[index]):
        y = x.exp() * x
    z = y * y
    count = len(packed)
    assert count >= 3
    z.sum().backward()
    e = x.detach().exp()
    torch.testing.assert_close(x.grad, 2 * (e * x.detach()) * (e * x.detach() + e))
    assert len(packed) == count


def test_saved_tensor_hooks_keep_the_graph_of_higher_order() -> None:
    x = leaf(1, 2)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
        y = x * x * x
        (first,) = grad(y.sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    assert values(first) == [3, 12] and values(second) == [6, 12]


def test_error_in_an_unpack_hook_comes_out() -> None:
    def unpack(stored: Any) -> Any:
        raise ValueError("lost")

    x = leaf(1, 2)
    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: None, unpack):
        y = x * x
    with pytest.raises(ValueError, match="lost"):
        y.sum().backward()


# Anomaly mode
# ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
def test_nan_is_found() -> None:
    x = leaf(0.0)
    with torch.autograd.set_detect_anomaly(True):
        y = ((x * 0) / (x * 0)).sum()
        message = r"Function 'DivBackward0' returned nan values in its [01]th output"
        with pytest.raises(RuntimeError, match=message):
            y.backward()
    assert not torch.is_anomaly_enabled()


def test_pack_hook_must_not_change_its_input():
    def pack(tensor):
        return tensor.mul_(2)

    a = torch.ones(2, requires_grad=True) * 1
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        with pytest.raises(RuntimeError, match="A saved tensor pack hook is modifying its input in place"):
            a * a


def test_saved_tensors_hooks() -> None:
    packed: list[Any] = []

    def pack(tensor: Any) -> int:
        packed.append(tensor.detach().clone())
        return len(packed) - 1

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda index: packed[index]):
        y = x * x
    assert packed
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
