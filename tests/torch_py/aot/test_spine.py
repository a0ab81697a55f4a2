"""A function and its backward as two graphs, which compute the same."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import torch_py as torch
from torch_py import nn
from torch_py._functorch.aot import aot_function, aot_module, aot_module_simplified
from torch_py._functorch.compilers import nop


def test_compilers_get_functional_graphs_and_fake_examples():
    graphs: list[Any] = []

    def keep(graph: Any, inputs: Any) -> Any:
        graphs.append((graph, inputs))
        return graph

    x = torch.ones(3, requires_grad=True)
    aot_function(lambda x: (x.sin() * x).sum(), keep)(x).backward()
    (forward, examples), (backward, _) = graphs
    assert [str(node.target) for node in forward.graph.nodes if node.op == "call_function"] == [
        "aten.sin.default",
        "aten.mul.Tensor",
        "aten.sum.default",
    ]
    assert type(examples[0]).__name__ == "FakeTensor" and examples[0].shape == (3,)
    assert len(backward.graph.output_node().args[0]) == 1


def test_a_network_trains_as_in_eager_mode():
    torch.manual_seed(0)
    eager = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2))
    model = copy.deepcopy(eager)
    compiled = aot_module(model, nop)
    x = torch.randn(2, 3, 4, 4)
    for _ in range(2):
        assert torch.equal(compiled(x), eager(x))
        eager(x).sum().backward()
        compiled(x).sum().backward()
    for name, value in eager.state_dict().items():
        assert torch.equal(model.state_dict()[name], value), name
    for one, other in zip(model.parameters(), eager.parameters()):
        assert torch.equal(one.grad, other.grad)


def test_other_arguments_compile_again():
    counts = [0]

    def count(graph: Any, inputs: Any) -> Any:
        counts[0] += 1
        return graph

    f = aot_function(lambda x, k: x * k, count)
    for x, k in ((torch.ones(2), 3), (torch.ones(2), 3), (torch.ones(3), 3), (torch.ones(3), 4)):
        assert torch.equal(f(x, k), x * k)
    assert counts[0] == 3


def test_simplified_modules_return_lists():
    call = aot_module_simplified(nn.Sequential(nn.Linear(3, 2), _Pair()), [torch.ones(4, 3)], nop)
    first, second = call(torch.ones(4, 3))
    assert torch.equal(first * 2, second)
    with pytest.raises(AssertionError, match="Linear must return a tuple or list"):
        aot_module_simplified(nn.Linear(3, 2), [torch.ones(4, 3)], nop)


class _Pair(nn.Module):
    def forward(self, x: Any) -> Any:
        return x, x * 2
