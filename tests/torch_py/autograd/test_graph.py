"""Gradients from and to edges of the graph, batches of gradients, and what hooks and nodes keep."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

graph = torch.autograd.graph
grad = torch.autograd.grad


def leaf(*values: float) -> Any:
    return torch.tensor([float(value) for value in values], requires_grad=True)


# Edges
# ------------------------------------------------------------


def test_gradients_at_edges() -> None:
    x = leaf(1, 2, 3)
    y = x**2
    (of_result,) = grad(y.sum(), graph.get_gradient_edge(y), retain_graph=True)
    assert of_result.tolist() == [1, 1, 1]
    of_result, of_leaf = grad(
        y.sum(), [graph.get_gradient_edge(y), graph.get_gradient_edge(x)], retain_graph=True
    )
    assert of_result.tolist() == [1, 1, 1] and of_leaf.tolist() == [2, 4, 6]
    mixed = grad(y.sum(), [x, graph.get_gradient_edge(y)])
    assert mixed[0].tolist() == [2, 4, 6]


def test_gradients_from_edges() -> None:
    x = leaf(1, 2, 3)
    total = (x**2).sum()
    edge = graph.get_gradient_edge(total)
    assert grad(edge, x, torch.tensor(2.0), retain_graph=True)[0].tolist() == [4, 8, 12]
    assert grad(edge, x, retain_graph=True)[0].tolist() == [2, 4, 6]
    torch.autograd.backward([edge, total], [torch.tensor(1.0), None])
    assert x.grad.tolist() == [4, 8, 12]


def test_backward_to_an_edge() -> None:
    x, z = leaf(1, 2), leaf(3, 4)
    (x * z).sum().backward(inputs=[graph.get_gradient_edge(x)])
    assert x.grad.tolist() == [3, 4] and z.grad is None


def test_wrong_edges() -> None:
    x = leaf(1, 2)
    y = x * 2
    edge = graph.get_gradient_edge(y)

    with pytest.raises(RuntimeError, match="implicitly created only for scalar"):
        grad(edge, x)
    with pytest.raises(RuntimeError, match="shape"):
        grad(edge, x, torch.ones(3))
    with pytest.raises(TypeError, match="Tensors or None"):
        grad([edge], x, [1.0])

    unused = graph.get_gradient_edge(leaf(1) * 2)
    assert grad(y.sum(), [unused], allow_unused=True, retain_graph=True) == (None,)
    with pytest.raises(RuntimeError, match="GradientEdge"):
        grad(y.sum(), [unused], materialize_grads=True)


@only_torch_py
def test_made_up_edges() -> None:
    x = leaf(1, 2)
    node = (x * 2).grad_fn
    with pytest.raises(IndexError, match="output_nr=1"):
        grad(x.sum(), graph.GradientEdge(node, 1))
    with pytest.raises(TypeError, match="live graph"):
        grad(x.sum(), graph.GradientEdge(None, 0))


@pytest.mark.parametrize("inputs", ["x", [None], [3]])
def test_inputs_that_are_not_tensors_are_refused(inputs: Any) -> None:
    with pytest.raises(RuntimeError, match="all inputs have to be Tensors or GradientEdges"):
        grad(leaf(1).sum(), inputs)


def test_outputs_that_are_not_tensors_are_refused() -> None:
    with pytest.raises(AssertionError):
        grad("y", leaf(1))


def test_only_inputs_is_deprecated() -> None:
    x = leaf(1, 2)
    with pytest.warns(FutureWarning, match="only_inputs"):
        assert grad(x.sum(), x, only_inputs=False)[0].tolist() == [1, 1]


# Batches
# ------------------------------------------------------------


def test_wrong_batches_of_gradients() -> None:
    x, y = leaf(1, 2, 3), leaf(1, 2)
    with pytest.raises(RuntimeError, match="implicitly created only for scalar"):
        grad(x**2, x, is_grads_batched=True)
    with pytest.raises(ValueError, match="same size"):
        grad([x**2, y * 2], [x, y], [torch.ones(2, 3), torch.ones(3, 2)], is_grads_batched=True)
    with pytest.raises((ValueError, IndexError)):
        grad(x.sum(), x, torch.tensor(1.0), is_grads_batched=True)


@only_torch_py
def test_an_empty_batch_of_gradients() -> None:
    x = leaf(1, 2, 3)
    assert grad(x**2, x, torch.ones(0, 3), is_grads_batched=True)[0].shape == (0, 3)


# Leaves
# ------------------------------------------------------------


def test_a_leaf_that_is_a_view_is_not_written_to() -> None:
    x = torch.arange(1.0, 4).view(3).requires_grad_()
    with pytest.raises(RuntimeError, match="view of a leaf Variable"):
        x[0].add_(1)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        x.add_(1)
    assert x.is_leaf and x.tolist() == [1, 2, 3]


def test_a_function_does_not_write_to_a_leaf_that_is_a_view() -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient * 2

    x = torch.arange(1.0, 4).view(3).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf Variable"):
        Twice.apply(x[:2])
    assert x.is_leaf


# Hooks and nodes
# ------------------------------------------------------------


def test_a_hook_added_by_a_hook_runs_from_the_next_pass_on() -> None:
    x = leaf(1)
    calls = []

    def first(gradient: Any) -> None:
        calls.append(1)
        x.register_hook(lambda gradient: calls.append(2))

    x.register_hook(first)
    x.sum().backward()
    assert calls == [1]
    x.sum().backward()
    assert calls == [1, 1, 2]


def test_hooks_that_remove_hooks() -> None:
    x = leaf(1)
    calls = []
    handles = []

    def once(gradient: Any) -> None:
        calls.append(1)
        handles[0].remove()

    handles.append(x.register_hook(once))
    x.register_hook(lambda gradient: calls.append(2))
    for _ in range(20):  # the list is cleaned up as it grows, and keeps live hooks
        x.register_hook(lambda gradient: None).remove()
    x.sum().backward()
    x.sum().backward()
    assert calls == [1, 2, 2]


def test_nodes_with_many_removed_hooks() -> None:
    x = leaf(1)
    calls = []
    y = x * 2

    for _ in range(20):
        y.grad_fn.register_prehook(lambda gradients: calls.append("removed")).remove()
        y.grad_fn.register_hook(lambda gradients, given: calls.append("removed")).remove()
        y.register_hook(lambda gradient: calls.append("removed")).remove()
        x.register_post_accumulate_grad_hook(lambda leaf: calls.append("removed")).remove()

    y.grad_fn.register_prehook(lambda gradients: calls.append("before"))
    y.grad_fn.register_hook(lambda gradients, given: calls.append("after"))
    x.register_post_accumulate_grad_hook(lambda leaf: calls.append("leaf"))

    y.sum().backward()
    assert calls == ["before", "after", "leaf"]


def test_metadata_stays_with_the_node() -> None:
    y = leaf(1) * 2
    y.grad_fn.metadata["name"] = "twice"
    gc.collect()
    assert y.grad_fn.metadata == {"name": "twice"}
    y.sum().backward()


def test_metadata_ends_with_the_node() -> None:
    class Value:
        pass

    y = leaf(1) * 2
    value = Value()
    y.grad_fn.metadata["value"] = value
    reference = weakref.ref(value)
    del value
    assert reference() is not None
    del y
    assert reference() is None


def test_classes_of_nodes() -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

    x = leaf(1)
    assert issubclass(type((x * 2).grad_fn), graph.Node) and issubclass(
        type(Same.apply(x).grad_fn), graph.Node
    )
    assert not issubclass(Same, graph.Node) and not issubclass(int, graph.Node)


def test_removed_hook_of_several_tensors_lets_go() -> None:
    x = leaf(1)
    y = leaf(2)
    calls = []

    handle = graph.register_multi_grad_hook((x, y), lambda gradients: calls.append(len(gradients)))
    (x * y).sum().backward()
    handle.remove()
    handle.remove()
    (x * y).sum().backward()
    assert calls == [2]

    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_detect_anomaly_warns() -> None:
    with (
        pytest.warns(UserWarning, match="Anomaly Detection has been enabled"),
        torch.autograd.detect_anomaly(),
    ):
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


# Modes and functions
# ------------------------------------------------------------


def test_set_grad_enabled_takes_a_bool() -> None:
    for wrong in ("x", None, 1.5):
        with pytest.raises(TypeError, match="must be bool"):
            torch.set_grad_enabled(wrong)
    assert torch.is_grad_enabled()
    with torch.set_grad_enabled(False) as nothing:
        assert nothing is None
    assert "set_grad_enabled(mode=True)" in repr(torch.set_grad_enabled(True))


def test_instances_of_functions() -> None:
    class Same(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            with pytest.warns(FutureWarning):
                ctx.mark_shared_storage((x, x))
            return x.clone()

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Same()
    with pytest.raises(RuntimeError, match="not static|non-static"):
        instance(leaf(1))
    Same.apply(leaf(1))


def test_backward_in_threads_accumulates() -> None:
    x = leaf(1, 2)
    threads = [threading.Thread(target=lambda: (x * 2).sum().backward()) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x.grad.tolist() == [16, 16]


def test_nodes_of_leaves_accumulate() -> None:
    x = torch.ones(2, requires_grad=True)
    assert "AccumulateGrad" in graph._get_grad_fn_or_grad_acc(x).name()
    y = x * 2
    assert graph._get_grad_fn_or_grad_acc(y) is y.grad_fn
