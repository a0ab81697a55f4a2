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
    """Makes `optimizer` train `swapin_parameters` within the block, in the order of its own parameters and
    with the state `swapin_optim_state`.

    The state has the layout of `optimizer.state_dict()`. Its tensors are used, not copied, so changes in
    place remain. Raises ValueError if the numbers of groups or parameters differ.
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
