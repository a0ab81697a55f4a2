"""Tables of decompositions: look-up, registration, and tracing with them."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from tests.subject import only_torch_py, torch

decomp = importlib.import_module(f"{torch.__name__}._decomp")
make_fx = importlib.import_module(f"{torch.__name__}.fx.experimental.proxy_tensor").make_fx
dispatch = importlib.import_module(f"{torch.__name__}.utils._python_dispatch")
aten = torch.ops.aten


def names_in(graph: Any) -> list[str]:
    return [node.target.overloadpacket.__name__ for node in graph.graph.nodes if node.op == "call_function"]


def test_a_packet_stands_for_its_overloads():
    table = decomp.get_decompositions([aten.silu])
    assert aten.silu.default in table
    assert set(decomp.get_decompositions([aten.addcmul.default])) == {aten.addcmul.default}


def test_operators_without_a_decomposition_are_left_out():
    assert decomp.get_decompositions([aten.convolution, aten.mm]) == {}


def test_tracing_with_a_table():
    x = torch.randn(3)
    table = decomp.get_decompositions([aten.silu, aten.silu_backward])
    graph = make_fx(lambda t: torch.nn.functional.silu(t), decomposition_table=table)(x)
    assert "silu" not in names_in(graph) and "sigmoid" in names_in(graph)
    assert torch.allclose(graph(x), torch.nn.functional.silu(x))


def test_tracing_a_gradient_with_a_table():
    def gradient(x: Any) -> Any:
        y = x.detach().requires_grad_()
        return torch.autograd.grad(torch.nn.functional.silu(y).sum(), y)[0]

    x = torch.randn(4)
    graph = make_fx(gradient, decomposition_table=decomp.get_decompositions([aten.silu_backward]))(x)
    assert "silu_backward" not in names_in(graph) and "sigmoid" in names_in(graph)
    assert torch.allclose(graph(x), gradient(x), atol=1e-6)


@only_torch_py
def test_a_composition_is_seen_as_what_it_calls():
    seen = []

    class Recorder(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    x, y = torch.randn(3), torch.randn(3)
    function = decomp.decomposition_table[aten.mse_loss.default]
    with Recorder():
        result = function(x, y)
    assert torch.allclose(result, ((x - y) ** 2).mean()) and "mse_loss" not in seen and "mean" in seen
    assert repr(function) == "<composition of aten.mse_loss.default>"


def test_registration():
    registry: dict[Any, Any] = {}

    @decomp.register_decomposition([aten.exp.default, aten.tanh], registry)
    def twice(x: Any) -> Any:
        return x * 2

    assert registry[aten.exp.default] is twice and registry[aten.tanh.default] is twice
    with pytest.raises(RuntimeError, match="duplicate registrations for"):
        decomp.register_decomposition(aten.exp.default, registry)(twice)
    graph = make_fx(torch.exp, decomposition_table=registry)(torch.ones(2))
    assert names_in(graph) == ["mul"]

    decomp.remove_decompositions(registry, [aten.tanh])
    assert list(registry) == [aten.exp.default]


@pytest.mark.parametrize("operator", [3, [None], {"a": "text"}])
@only_torch_py
def test_wrong_operators(operator: Any):
    with pytest.raises(TypeError, match="expected an operator"):
        decomp.register_decomposition(operator, {})(lambda x: x)
    with pytest.raises(ValueError, match="type must be one of"):
        decomp.get_decompositions([aten.silu], type="no")


def test_the_core_table():
    core = decomp.core_aten_decompositions()
    assert aten.silu_backward.default in core
    for operator in (aten.exp.default, aten.sigmoid.default, aten.mm.default, aten.convolution.default):
        assert operator not in core
    assert core is not decomp.decomposition_table
