"""Blocks that change how tensors of a mesh compute; of one process, they change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch_py import _pytorch_names
from torch_py.distributed.device_mesh import DeviceMesh

__all__ = ["context_parallel", "implicit_replication"]

_pytorch_names.extend(__path__, __name__)


@contextmanager
def implicit_replication() -> Iterator[None]:
    """Lets operators mix a DTensor with plain tensors, which is always possible in a world of one."""
    yield


@contextmanager
def context_parallel(
    mesh: DeviceMesh,
    *,
    buffers: Sequence[Any] | None = None,
    buffer_seq_dims: Sequence[int] | None = None,
    no_restore_buffers: Any = None,
) -> Iterator[None]:
    """Cuts sequences over the processes of `mesh` while the block runs; one process has them whole."""
    yield
