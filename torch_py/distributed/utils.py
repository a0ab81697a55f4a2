"""Checks and copies that wrappers of modules use."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

from torch_py.distributed._world import GroupMember


def _p_assert(cond: Any, s: str, raise_assertion_error: bool = True) -> None:
    """Prints the stack and raises AssertionError if `cond` is false.

    Backward reports only the text of errors, without the stack.
    """
    if cond:
        return
    print(s)
    traceback.print_stack()
    if raise_assertion_error:
        raise AssertionError(s)


def _sync_module_states(
    module: Any,
    process_group: Any,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Sequence[str] = (),
    broadcast_buffers: bool = True,
) -> None:
    """Gives all processes the values of process `src`, which is this one. Raises ValueError for others."""
    GroupMember.of(process_group)
    if src != 0:
        raise ValueError(f"_sync_module_states: expected rank 0 in a world of 1, got {src}")
