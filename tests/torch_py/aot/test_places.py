"""Calls with arguments at another place in their memory than those of the first call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torch_py as torch

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
