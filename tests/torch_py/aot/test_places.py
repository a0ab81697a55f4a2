"""Calls with arguments at another place in their memory than those of the first call."""

from __future__ import annotations

import math
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


# Programs that reach elements of memory which their arguments do not show
# ------------------------------------------------------------


def _change_x_and_read_start_for_y(x: Any, y: Any) -> Any:
    x.add_(1)
    return y.as_strided((3,), (1,), 0) * 3


def _change_x_and_multiply_by_its_place(x: Any) -> Any:
    x.add_(1)
    return x * x.storage_offset()


def _change_elements_from_the_start(x: Any) -> Any:
    x.as_strided((x.size(0),), (1,), 0).add_(1)
    return x * 2


@pytest.mark.parametrize("order", [(0, 1, 0), (1, 0, 1)])
def test_tensors_that_begin_or_cease_to_share_a_storage(order: tuple[int, ...]):
    def arguments(are_of_one_memory: int) -> list[Any]:
        memory, other = torch.arange(12.0), torch.arange(4.0)
        return [memory[:4] if are_of_one_memory else other, memory[4:8]]

    function = _change_x_and_read_start_for_y
    compiled = torch.compile(function, backend="aot_eager")
    for are_of_one_memory in order:
        expected = function(*arguments(are_of_one_memory))
        assert compiled(*arguments(are_of_one_memory)).tolist() == expected.tolist()


@pytest.mark.parametrize("requires_grad", [False, True])
def test_changes_around_an_argument_in_memory_of_another_size(requires_grad: bool):
    def outcome(call: Callable[..., Any], *shape: int) -> Any:
        base = torch.arange(float(math.prod(shape)), requires_grad=requires_grad)
        memory = base.view(shape) * 1
        result = call(memory[1] if shape[-1] == 4 else memory.view(-1)[4:8])
        gradient = torch.autograd.grad(result.square().sum(), base)[0].tolist() if requires_grad else None
        return result.tolist(), memory.tolist(), gradient

    function = _change_start_of_memory
    compiled = torch.compile(function, backend="aot_eager")
    for shape in [(3, 4), (5, 4), (2, 6), (8,), (3, 4)]:
        assert outcome(compiled, *shape) == outcome(function, *shape), shape


@pytest.mark.parametrize(
    "function",
    [_change_start_of_memory, _change_elements_from_the_start, _change_x_and_multiply_by_its_place],
)
def test_places_of_arguments_whose_sizes_vary(function: Any):
    compiled = torch.compile(function, backend="aot_eager", dynamic=True)
    for places in ([(2, 6)], [(2, 8)], [(3, 8)], [(0, 7)]):
        assert _outcome(compiled, places, False) == _outcome(function, places, False)
