"""Graphs of calls of torch's functions, as a capture of a program gives them, compiled ahead of time."""

from __future__ import annotations

import importlib.util
import operator
from pathlib import Path
from typing import Any

import torch_py as torch
from torch_py import nn
from torch_py._dynamo.backends.common import aot_autograd
from torch_py._functorch.aot import aot_module_simplified
from torch_py.fx import Graph, GraphModule


def backends() -> list[Any]:
    """eager, aot_eager and aot_eager_decomp_partition, without their package, which is about bytecode."""
    path = Path(torch.__file__).parent / "_dynamo/backends/debugging.py"
    spec = importlib.util.spec_from_file_location("debugging", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return [module.eager, module.aot_eager, module.aot_eager_decomp_partition]


def captured() -> GraphModule:
    """x @ weight * 3, whose first row is doubled in place; with lines of the program."""
    graph = Graph()
    x, weight = graph.placeholder("x"), graph.placeholder("l_weight_")
    scores = graph.call_function(torch.matmul, (x, weight), name="scores")
    scores.meta["stack_trace"] = 'File "model.py", line 3, in forward\n    scores = x @ self.weight'
    weights = graph.create_node("call_method", "mul", (scores, 3), name="weights")
    row = graph.call_function(operator.getitem, (weights, 0), name="row")
    graph.call_method("mul_", (row, 2))
    graph.output((weights, row))
    return GraphModule(nn.Module(), graph)


def arguments() -> list[Any]:
    torch.manual_seed(0)
    return [torch.randn(3, 4), torch.randn(4, 5, requires_grad=True)]


def test_nodes_have_the_names_and_lines_of_the_program():
    graphs: list[GraphModule] = []
    aot_module_simplified(captured(), arguments(), lambda graph, _: graphs.append(graph) or graph)
    forward = graphs[0].graph
    names = [node.name for node in forward.nodes]
    assert names[:3] == ["x", "l_weight_", "scores"] and "weights" in names
    (scores,) = (node for node in forward.nodes if node.name == "scores")
    assert "line 3, in forward" in scores.meta["stack_trace"]


def test_backends_compute_the_same():
    for backend in backends():
        expected_arguments, found_arguments = arguments(), arguments()
        expected = captured()(*expected_arguments)
        found = backend(captured(), found_arguments)(*found_arguments)
        for one, other in zip(found, expected):
            assert torch.equal(one, other) and one.stride() == other.stride()
        assert found[1].untyped_storage()._cdata == found[0].untyped_storage()._cdata

        expected[0].sum().backward()
        found[0].sum().backward()
        assert torch.allclose(found_arguments[1].grad, expected_arguments[1].grad)


def test_grad_modes_in_a_graph():
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_function(torch._C._set_grad_enabled, (False,))
    constant = graph.call_function(torch.sin, (x,))
    graph.call_function(torch._C._set_grad_enabled, (True,))
    graph.output((constant, graph.call_function(torch.matmul, (x, x))))
    module = GraphModule(nn.Module(), graph)

    x = torch.randn(3, 3, requires_grad=True)
    for backend in backends()[1:]:
        first, second = backend(module, [x])(x)
        assert torch.is_grad_enabled()
        assert not first.requires_grad and second.requires_grad


def test_graphs_without_special_results_are_called_directly():
    """Nothing runs between the caller and the compiled graph."""
    graph = Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_function(torch.exp, (x,)),))
    module = GraphModule(nn.Module(), graph)

    def compiler(compiled: Any, _: Any) -> Any:
        return compiled

    x = torch.ones(2)
    assert isinstance(aot_module_simplified(module, [x], compiler), GraphModule)
    trained = aot_module_simplified(module, [x.clone().requires_grad_()], compiler)
    assert isinstance(trained, torch._C._compiler.CompiledGraph)


def test_graphs_are_no_modules_for_hooks_of_all_modules():
    def double(module: Any, inputs: Any, output: Any) -> Any:
        return output * 2

    weight = torch.randn(3, requires_grad=True)
    handle = torch.nn.modules.module.register_module_forward_hook(double)
    try:
        (result,) = torch.compile(lambda w: (w.sin(),), backend="aot_eager")(weight)
        result.sum().backward()
    finally:
        handle.remove()
    assert torch.equal(weight.grad, weight.detach().cos())


def test_a_backend_of_two_compilers():
    graphs = []

    def keep(module, inputs):
        graphs.append(module.code.strip())
        return module

    backend = aot_autograd(fw_compiler=keep, bw_compiler=keep)
    x = torch.ones(3, requires_grad=True)
    torch.compile(torch.sin, backend=backend)(x).sum().backward()
    assert torch.equal(x.grad, torch.ones(3).cos())
    assert ["cos" in graph or "sin_backward" in graph for graph in graphs] == [False, True]
