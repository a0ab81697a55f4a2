"""`make_fx`: graphs of what a function calls below autograd, forward and backward."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

make_fx = import_module(f"{torch.__name__}.fx.experimental.proxy_tensor").make_fx
aten = torch.ops.aten


def targets(graph: Any) -> list[str]:
    return [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]


def test_the_operators_of_a_function() -> None:
    graph = make_fx(lambda x: torch.exp(x) + 1)(torch.ones(3))
    assert targets(graph) == ["aten.exp.default", "aten.add.Tensor"]
    assert graph(torch.zeros(3)).tolist() == [2.0, 2.0, 2.0]


def test_forward_and_backward_in_one_graph() -> None:
    def step(x: Any, w: Any) -> Any:
        w = w.detach().requires_grad_()
        loss = ((x @ w).tanh() ** 2).sum()
        return torch.autograd.grad(loss, w)[0]

    graph = make_fx(step)(torch.ones(3, 4), torch.ones(4, 2))
    assert "aten.tanh_backward.default" in targets(graph)
    x, w = torch.randn(3, 4), torch.randn(4, 2)
    torch.testing.assert_close(graph(x, w), step(x, w))


def test_parameters_are_attributes_of_the_graph() -> None:
    layer = torch.nn.Linear(4, 2)
    graph = make_fx(layer)(torch.ones(3, 4))
    assert len(list(graph.parameters())) == 2
    x = torch.randn(3, 4)
    torch.testing.assert_close(graph(x), layer(x))


def test_nested_arguments_and_results() -> None:
    def function(arguments: Any) -> Any:
        return {"sum": arguments["a"] + arguments["b"][0], "first": arguments["a"]}

    arguments = {"a": torch.ones(2), "b": [torch.ones(2)]}
    graph = make_fx(function)(arguments)
    assert "aten.add.Tensor" in targets(graph)


def test_in_place_changes_are_recorded() -> None:
    def function(x: Any) -> Any:
        y = x.clone()
        y.add_(1).mul_(2)
        y[0] = 7
        return y

    graph = make_fx(function)(torch.zeros(3))
    assert graph(torch.ones(3)).tolist() == [7.0, 4.0, 4.0]


def test_decompositions_take_the_place_of_operators() -> None:
    table = {aten.silu.default: lambda x: x * torch.sigmoid(x)}
    graph = make_fx(torch.nn.functional.silu, decomposition_table=table)(torch.ones(2))
    assert targets(graph) == ["aten.sigmoid.default", "aten.mul.Tensor"]


@only_torch_py
@pytest.mark.parametrize("options", [{"tracing_mode": "symbolic"}, {"pre_dispatch": True}])
def test_what_is_not_recorded_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(NotImplementedError, match="make_fx"):
        make_fx(torch.exp, **options)(torch.ones(2))


def test_recording_with_fake_tensors() -> None:
    def step(x: Any, w: Any) -> Any:
        w = w.detach().requires_grad_()
        loss = ((x @ w).tanh() ** 2 + torch.ones(2)).sum()
        return torch.autograd.grad(loss, w)[0]

    calls: list[Any] = []

    def function(x: Any, w: Any) -> Any:
        calls.append(type(x).__name__)
        return step(x, w)

    graph = make_fx(function, tracing_mode="fake")(torch.ones(3, 4), torch.ones(4, 2))
    assert calls == ["FakeTensor"]
    x, w = torch.randn(3, 4), torch.randn(4, 2)
    torch.testing.assert_close(graph(x, w), step(x, w))
    values = [node.meta["val"] for node in graph.graph.nodes if node.op == "call_function"]
    assert {type(value).__name__ for value in values} == {"FakeTensor"}
    assert tuple(values[-1].shape) == (4, 2)


def test_numbers_of_the_program_are_constants_of_a_fake_recording() -> None:
    graph = make_fx(lambda x: x + torch.tensor([1.0, 2.0]), tracing_mode="fake")(torch.ones(2))
    assert graph(torch.zeros(2)).tolist() == [1.0, 2.0]


def test_other_tensors_are_refused_where_recording_is_fake() -> None:
    layer = torch.nn.Linear(4, 2)
    with pytest.raises(AssertionError, match="FakeTensors"):
        make_fx(layer, tracing_mode="fake")(torch.ones(3, 4))
    graph = make_fx(layer, tracing_mode="fake", _allow_non_fake_inputs=True)(torch.ones(3, 4))
    x = torch.randn(3, 4)
    torch.testing.assert_close(graph(x), layer(x))


def test_a_network_with_its_gradients() -> None:
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(3 * 36, 5)
    )
    parameters = list(network.parameters())

    def step(x: Any, y: Any) -> Any:
        loss = torch.nn.functional.cross_entropy(network(x), y)
        return [loss, *torch.autograd.grad(loss, parameters)]

    x, y = torch.randn(2, 1, 8, 8), torch.tensor([1, 3])
    graph = make_fx(step)(x, y)
    x = torch.randn(2, 1, 8, 8)
    for ours, expected in zip(graph(x, y), step(x, y)):
        torch.testing.assert_close(ours, expected)
