"""Training with different numbers of batches in each process; of one process, which never waits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from torch_py.distributed._world import Work

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What an object does for processes that have no more batches."""

    def main_hook(self) -> None:
        """Answers the collectives of the other processes, once for each of their steps."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Runs when all processes are through."""


class Joinable(ABC):
    """An object that takes part in `Join`."""

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook: ...

    @property
    @abstractmethod
    def join_device(self) -> Any: ...

    @property
    @abstractmethod
    def join_process_group(self) -> Any: ...


class Join:
    """A block in which processes may have different numbers of batches.

    Args:
        joinables: the objects whose hooks run when this process leaves the block.
        enable: whether hooks run at all.
        throw_on_early_termination: raise RuntimeError once a process has no more batches; the only process
            of a world of one is never early.
        kwargs: given to `join_hook` of each object.

    Raises ValueError without objects.
    """

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [joinable.join_hook(**kwargs) for joinable in joinables] if enable else []

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if kind is not None:
            return
        for hook in self._hooks:
            hook.post_hook(is_last_joiner=True)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tells the other processes that this one has a batch: nothing to do for one process."""
        return None
