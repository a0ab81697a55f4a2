"""What graphs keep for backward."""

from __future__ import annotations

import random
from typing import Any

import pytest

import torch_py as torch
from tests.torch_py.aot.comparison import compare, computed, leaves
from torch_py._functorch.aot import aot_function, default_partition, min_cut_rematerialization_partition
from torch_py._functorch.aot.max_flow import UNLIMITED, Network

S = (3, 4)
F = torch.nn.functional


def kept_bytes(function: Any, arguments: list[Any], partition: Any) -> int:
    """The memory of tensors that the compiled function keeps, but for its arguments."""
    found = [0]
    own = {argument.untyped_storage()._cdata for argument in arguments}

    def pack(tensor: Any) -> Any:
        if tensor.untyped_storage()._cdata not in own:
            found[0] += tensor.untyped_storage().nbytes()
            own.add(tensor.untyped_storage()._cdata)
        return tensor

    called = function if partition is None else aot_function(function, lambda g, _: g, partition_fn=partition)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        alive = called(*arguments)
    del alive
    return found[0]


def _chain(x: Any, y: Any) -> Any:
    return ((x * y).sin().exp() + y.tanh()).sigmoid().sum()


def _block(x: Any, w: Any) -> Any:
    return F.gelu(F.layer_norm(x @ w, (4,))).relu() @ w


def _masked(x: Any, y: Any) -> Any:
    return torch.where(x > 0, F.dropout(y, 0.5) * x, y.exp()).softmax(1)


def _views(x: Any, y: Any) -> Any:
    z = (x * y).t().reshape(2, 6)
    return z.sin()[:, 1:] * z[:, :-1]


CASES = {
    "chain": (_chain, (S, S)),
    "block": (_block, ((5, 4), (4, 4))),
    "masked": (_masked, (S, S)),
    "views": (_views, (S, S)),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_keeps_more_than_eager_autograd(case: str):
    function, shapes = CASES[case]
    arguments = [torch.randn(shape, requires_grad=True) for shape in shapes]
    eager = kept_bytes(function, arguments, None)
    by_default = kept_bytes(function, arguments, default_partition)
    least = kept_bytes(function, arguments, min_cut_rematerialization_partition)
    assert least <= by_default <= eager


def test_pointwise_chains_keep_only_inputs():
    arguments = [torch.randn(S, requires_grad=True) for _ in range(2)]
    assert kept_bytes(_chain, arguments, min_cut_rematerialization_partition) == 0


@pytest.mark.parametrize("make", [leaves, computed])
@pytest.mark.parametrize("case", CASES)
def test_the_least_memory_computes_the_same(case: str, make: Any):
    function, shapes = CASES[case]
    compare(function, make(*shapes), partition=min_cut_rematerialization_partition)


def _changed_later(x: Any, y: Any) -> Any:
    z = (x * 2).sin()
    x.add_(1)
    return z * y


def test_changed_inputs_are_not_kept_instead_of_values():
    compare(_changed_later, computed(S, S), partition=min_cut_rematerialization_partition)


def operators_of_graphs(function: Any, *shapes: tuple[int, ...]) -> list[str]:
    """Those of the forward and those of the backward graph, as text."""
    kinds: list[str] = []

    def compiler(graph: Any, inputs: Any) -> Any:
        kinds.append(" ".join(str(node.target) for node in graph.graph.nodes))
        return graph

    f = aot_function(function, compiler, partition_fn=min_cut_rematerialization_partition)
    f(*[torch.randn(shape, requires_grad=True) for shape in shapes]).sum().backward()
    return kinds


def test_random_numbers_are_kept():
    forward, backward = operators_of_graphs(lambda x: F.dropout(x.sin(), 0.5).exp(), S)
    assert "bernoulli" in forward
    assert "bernoulli" not in backward


def test_of_two_values_that_are_stored_anyway_the_later_is_kept():
    _, backward = operators_of_graphs(lambda x, w: torch.relu(x @ w) @ w, (4, 4), (4, 4))
    assert "aten.relu" not in backward


def test_a_value_that_is_stored_anyway_is_kept_rather_than_one_of_a_fused_loop():
    _, backward = operators_of_graphs(lambda x, w: torch.relu(x @ w).sin(), (4, 4), (4, 4))
    assert "aten.relu" in backward


# The algorithm
# ------------------------------------------------------------


def cost_of_cut(edges: list[tuple[int, int, int]], near: set[int]) -> int:
    return sum(capacity for start, end, capacity in edges if start in near and end not in near)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_are_the_smallest(seed: int):
    """Compared with all cuts."""
    generator = random.Random(seed)
    count = 7
    edges = [
        (a, b, generator.randrange(1, 10))
        for a in range(count)
        for b in range(count)
        if a != b and generator.random() < 0.4
    ]
    network = Network(count)
    for edge in edges:
        network.connect(*edge)

    near = network.cut(0, count - 1)
    assert 0 in near and count - 1 not in near
    middles = range(1, count - 1)
    cuts = [{0} | {v for v in middles if mask >> v & 1} for mask in range(0, 1 << (count - 1), 2)]
    least = min(cost_of_cut(edges, cut) for cut in cuts)
    assert cost_of_cut(edges, near) == least
    assert all(cut <= near for cut in cuts if cost_of_cut(edges, cut) == least)


def test_an_unlimited_path_has_no_cut():
    network = Network(3)
    network.connect(0, 1, UNLIMITED)
    network.connect(1, 2, UNLIMITED)
    with pytest.raises(ValueError, match="unlimited"):
        network.cut(0, 2)
