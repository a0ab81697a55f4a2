"""Momentum that a schedule changes together with the rate: 'momentum', or the first of 'betas'."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py.optim.lr_scheduler._base import set_value
from torch_py.optim.optimizer import Optimizer


def uses_beta1(optimizer: Optimizer) -> bool:
    """Whether momentum is the first of 'betas'. Raises ValueError for an optimizer without momentum."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], momentum: float, use_beta1: bool) -> None:
    """Sets the momentum of a group."""
    if use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        set_value(group, "momentum", momentum)


def start_momentum(
    optimizer: Optimizer, least: Sequence[float], largest: Sequence[float], use_beta1: bool
) -> None:
    """Sets the largest momentum, which belongs to the smallest rate, and stores both bounds in the groups."""
    for group, base, top in zip(optimizer.param_groups, least, largest):
        set_momentum(group, top, use_beta1)
        group["max_momentum"] = top
        group["base_momentum"] = base
