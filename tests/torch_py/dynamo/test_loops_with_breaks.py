"""Loops over containers in which a graph ends: the loop goes on compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from torch_py import nn


class Layers(nn.Module):
    """Layers in the containers that models loop over."""

    def __init__(self) -> None:
        super().__init__()
        self.listed = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.named = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Tanh()})

    def forward(self, x: Any) -> Any:
        for layer in self.listed:
            x = layer(x)
            if x.isnan().any():
                raise ValueError
        for name, layer in self.named.items():
            print(end="")
            x = layer(x) + len(name)
        for number, layer in enumerate(self.listed):
            print(end="")
            x = layer(x) * number
        return x


def _over_keys(x: Any, container: Any) -> Any:
    for key in container:
        torch._dynamo.graph_break()
        x = x + key
    return x


def _over_values(x: Any, container: Any) -> Any:
    for value in container.values():
        torch._dynamo.graph_break()
        x = x * value
    return x


def _over_items(x: Any, container: Any) -> Any:
    for key, value in container.items():
        torch._dynamo.graph_break()
        x = x * value + key
    return x


PROGRAMS: list[tuple[Callable[..., Any], Any]] = [
    (_over_keys, {1: 2.5, 3: 4.5}),
    (_over_keys, {7, 8, 9}),
    (_over_values, {1: 2.5, 3: torch.ones(3)}),
    (_over_items, {1: 2.5, 3: 4.5, 5: torch.ones(3)}),
]


@pytest.mark.parametrize(("program", "container"), PROGRAMS)
def test_containers(program: Any, container: Any) -> None:
    compiled = torch.compile(program, backend="eager")
    graphs = []
    for _ in range(3):
        x = torch.ones(2, 3)
        assert torch.equal(compiled(x, container), program(x, container))
        graphs.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    assert graphs[0] > 0 and graphs[2] == graphs[1]


def test_layers_in_containers() -> None:
    model = Layers()
    compiled = torch.compile(model, backend="eager")
    for _ in range(3):
        x = torch.randn(2, 3)
        assert torch.equal(compiled(x), model(x))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] > 3
