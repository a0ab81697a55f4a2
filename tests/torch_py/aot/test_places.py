"""Calls with arguments at another place in their memory than those of the first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch
from torch_py._functorch.aot import aot_function
from torch_py._functorch.compilers import nop

Places = list[tuple[int, int]]


def _outcome(call: Callable[..., Any], places: Places, requires_grad: bool) -> Any:
    """What a call does whose arguments are parts of one memory: a beginning and an end for each."""
    base = torch.arange(12.0, requires_grad=requires_grad)
    memory = base * 1
    result = call(*[memory[start:end] for start, end in places])
    gradient = torch.autograd.grad(result.square().sum(), base)[0].tolist() if requires_grad else None
    return result.tolist(), result.storage_offset(), memory.tolist(), gradient


def _view_from_between_changes(x: Any) -> Any:
    x.mul_(2)
    y = x[1:]
    x.add_(1)
    return y


def _view_of_reshaped(x: Any) -> Any:
    x.unsqueeze_(0)
    return x[:, 1:]


def _detached_view_of_reshaped(x: Any) -> Any:
    y = x.detach()[1:]
    x.unsqueeze_(0)
    return y


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize(
    ("function", "requires_grad"),
    [(_view_from_between_changes, True), (_view_of_reshaped, False), (_detached_view_of_reshaped, False)],
)
def test_results_are_views_of_the_arguments_of_their_call(function: Any, requires_grad: bool, backend: str):
    compiled = torch.compile(function, backend=backend)
    for start in (0, 4, 1):
        places = [(start, start + 4)]
        assert _outcome(compiled, places, requires_grad) == _outcome(function, places, requires_grad)


def _change_one_of_two(x: Any, y: Any) -> Any:
    x.mul_(2)
    return x + y


def _change_start_of_memory(x: Any) -> Any:
    x.as_strided((2,), (1,), 0).add_(1)
    return x * 2


def _read_start_of_memory(x: Any) -> Any:
    x.add_(1)
    return x.as_strided((2,), (1,), 0) * 3


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (_change_one_of_two, [[(0, 4), (2, 6)], [(1, 5), (2, 6)], [(4, 8), (4, 8)], [(0, 4), (4, 8)]]),
        (_change_start_of_memory, [[(0, 4)], [(4, 8)], [(1, 5)]]),
        (_change_start_of_memory, [[(4, 8)], [(0, 4)]]),
        (_read_start_of_memory, [[(0, 4)], [(4, 8)], [(0, 4)]]),
    ],
)
def test_functions_are_compiled_again_for_other_places(
    function: Any, calls: list[Places], requires_grad: bool
):
    compiled = aot_function(function, nop)
    for places in calls:
        assert _outcome(compiled, places, requires_grad) == _outcome(function, places, requires_grad)


def test_places_that_make_no_difference_compile_once():
    graphs = []

    def compiler(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph

    compiled = aot_function(_view_of_reshaped, compiler)
    for start in (0, 4, 1):
        _outcome(compiled, [(start, start + 4)], False)
    assert len(graphs) == 1
