"""Lets an optimizer train other parameters temporarily."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch_py._tensor import Tensor
from torch_py.optim.optimizer import Optimizer

__all__ = ["swap_in_optimizer_params_and_state"]


@contextmanager
def swap_in_optimizer_params_and_state(
    optimizer: Optimizer, swapin_parameters: dict[str, Tensor], swapin_optim_state: dict[str, Any]
) -> Iterator[None]:
    """Makes an optimizer train other tensors within a block, with another state.

    Args:
        optimizer: the optimizer
        swapin_parameters: the tensors by name, in the order of the optimizer's own
        swapin_optim_state: the state, as `optimizer.state_dict()` lays it out; its tensors are used, not
            copied

    Raises:
        ValueError: the groups or parameters do not fit

    Example:
        >>> first, second = (nn.Parameter(torch.tensor([1.0])) for _ in range(2))
        >>> optimizer = torch.optim.SGD([first], lr=0.5)
        >>> swap = torch.optim.swap_in_optimizer_params_and_state
        >>> with swap(optimizer, {"weight": second}, optimizer.state_dict()):
        ...     second.sum().backward()
        ...     optimizer.step()
        >>> first.item(), second.item()
        (1.0, 0.5)
    """
    parameters = list(swapin_parameters.values())
    groups = swapin_optim_state["param_groups"]
    numbers = [number for group in groups for number in group["params"]]
    counts = [len(group["params"]) for group in optimizer.param_groups]
    if [len(group["params"]) for group in groups] != counts or len(parameters) != sum(counts):
        raise ValueError(
            "swapin_parameters and swapin_optim_state must have the parameters of the optimizer, groups of "
            f"{counts}, but there are {len(parameters)} tensors and groups of "
            f"{[len(group['params']) for group in groups]}"
        )

    by_number = dict(zip(numbers, parameters))
    state: defaultdict[Any, Any] = defaultdict(dict)
    for key, value in swapin_optim_state["state"].items():
        state[by_number.get(key, key)] = dict(value) if isinstance(value, dict) else value

    kept = optimizer.param_groups, optimizer.state
    optimizer.param_groups = [
        {**group, "params": [by_number[number] for number in group["params"]]} for group in groups
    ]
    optimizer.state = state

    try:
        yield
    finally:
        optimizer.param_groups, optimizer.state = kept
