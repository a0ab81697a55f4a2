"""Objects with `__torch_function__` take calls over wherever they are passed, in place of numbers too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.subject import only_torch_py, torch


class StandIn:
    """Returns the name of what it is passed to."""

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> str:
        return function.__name__


any_value = StandIn()


@pytest.mark.parametrize(
    "name, call",
    [
        ("relu", lambda: torch.relu(any_value)),
        ("add", lambda: torch.add(torch.ones(2), 1, alpha=any_value)),
        ("dropout", lambda: torch.dropout(torch.ones(2), any_value, True)),
        ("zeros", lambda: torch.zeros(any_value)),
        ("zeros", lambda: torch.zeros((2, any_value))),
        ("randn", lambda: torch.randn(2, any_value)),
        ("full", lambda: torch.full((2, 3), any_value)),
        ("arange", lambda: torch.arange(any_value)),
        ("ones", lambda: torch.ones(2, device=any_value)),
        ("view", lambda: torch.ones(2).view(any_value)),
        ("sum", lambda: torch.ones(2).sum(dim=any_value)),
        ("narrow", lambda: torch.ones(2).narrow(0, 0, any_value)),
        ("size", lambda: torch.ones(2).size(any_value)),
    ],
)
def test_stand_ins_take_calls_over(name: str, call: Any) -> None:
    assert call() == name


@only_torch_py
@pytest.mark.parametrize(
    "call",
    [
        lambda: torch.device(any_value),
        lambda: torch.finfo(any_value),
        lambda: torch.Generator(any_value),
        lambda: torch.promote_types(any_value, torch.float32),
        lambda: torch.can_cast(any_value, torch.float32),
    ],
)
def test_functions_that_nothing_takes_over_refuse_stand_ins(call: Any) -> None:
    with pytest.raises(TypeError):
        call()


def test_plain_objects_are_refused() -> None:
    with pytest.raises(TypeError):
        torch.zeros((2, object()))
    with pytest.raises(TypeError):
        torch.ones(2).view(2, object())
