"""Equal values are computed once, and no two results become one tensor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import only_torch_py, torch
from tests.torch_py._inductor.programs import compiled, graph_of, make

pytestmark = only_torch_py


def merged(function: Any, *args: Any) -> tuple[int, list[Any]]:
    """How many nodes go, and the operators that are left."""
    from torch_py._inductor.compile_call import merge_common

    module = graph_of(function, *args)
    gone = merge_common(module)
    expected, actual = function(*args), module(*args)
    torch.testing.assert_close(actual, expected)
    return gone, [node.target for node in module.graph.nodes if node.op == "call_function"]


def test_products_are_computed_once() -> None:
    aten = torch.ops.aten
    x = make(8, 8)
    gone, left = merged(lambda x: torch.relu(x @ x) + (x @ x).sum(0), x)
    assert gone == 1 and left.count(aten.mm.default) == 1
    assert "mm" in compiled(lambda x: torch.relu(x @ x) + (x @ x).sum(0), x).program.debug()


def test_what_follows_from_equal_values_is_equal() -> None:
    gone, left = merged(lambda x: torch.sin(x + 1) * torch.cos(torch.sin(x + 1).view(-1)).view(4), make(4))
    assert gone == 2 and len(left) == 6


def test_numbers_of_other_types_are_others() -> None:
    x = torch.tensor([3, 5])
    assert merged(lambda x: (x * 2).float() + x * 2.0, x)[0] == 0
    assert merged(lambda x: (x & True) + (x & 1), x)[0] == 0
    assert merged(lambda x: (x.float() * 0.0) * (x.float() * -0.0), x)[0] == 1  # float() alone


def test_random_numbers_are_drawn_each_time() -> None:
    module = graph_of(lambda x: torch.rand_like(x) - torch.rand_like(x), make(4))
    from torch_py._inductor.compile_call import merge_common

    assert merge_common(module) == 0
    assert (module(make(4)) != 0).all()


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1, x + 1),
        lambda x: ((x + 1).view(-1), (x + 1).view(2, 2)),
        lambda x: ((x * 2).split(2), (x * 2).split(2)[0]),
        lambda x: (x.sin()[0], x.sin()[0]),
    ],
)
def test_results_stay_apart(function: Any) -> None:
    x = make(2, 2)
    results = [r for r in torch.utils._pytree.tree_leaves(torch.compile(function)(x))]
    expected = [r for r in torch.utils._pytree.tree_leaves(function(x))]

    def sharing(tensors: Any) -> list[list[bool]]:
        addresses = [t.untyped_storage()._cdata for t in tensors]
        return [[a == b for a in addresses] for b in addresses]

    assert sharing(results) == sharing(expected)


def test_changes_in_place_separate_values() -> None:
    def function(x: Any) -> Any:
        before = (x * 1).sum()
        x.add_(1)
        return before + (x * 1).sum()

    x, y = torch.ones(4), torch.ones(4)
    assert torch.compile(function)(x).item() == function(y).item() and torch.equal(x, y)


def test_the_call_and_backward_compute_values_once_each() -> None:
    from torch_py._inductor.debug import compiled_graphs

    def function(x: Any, w: Any) -> Any:
        return torch.sigmoid(x @ w) * torch.sigmoid(x @ w)

    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
    forward, _ = compiled_graphs(function, x, w)
    assert str(forward.module.graph).count("aten.mm.default") == 1
    results = [torch.autograd.grad(run(x, w).sum(), x)[0] for run in (function, torch.compile(function))]
    torch.testing.assert_close(*results)


def test_backward_computes_again_what_it_did() -> None:
    """A checkpoint gives up what the call has computed."""
    from torch_py._functorch.aot.recipes import BACKWARD
    from torch_py._inductor.compile_call import merge_common

    module = graph_of(lambda x: torch.relu(x.sin()) + torch.cos(x.sin()) + torch.exp(x.sin()), make(4))
    sines = module.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)
    for node in sines[1:]:
        node.meta[BACKWARD] = True
    assert merge_common(module) == 1
    assert len(module.graph.find_nodes(op="call_function", target=torch.ops.aten.sin.default)) == 2
