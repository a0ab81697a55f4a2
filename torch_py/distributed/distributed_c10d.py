"""Worlds, groups and collectives, under the name of PyTorch's implementation."""

from __future__ import annotations

from typing import Any

from torch_py import _C
from torch_py import distributed as _distributed
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed import *
from torch_py.distributed._stores import FileStore, HashStore, PrefixStore, Store, TCPStore, rendezvous
from torch_py.distributed._world import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    GroupMember,
    ProcessGroup,
    current_group,
)
from torch_py.distributed.constants import default_pg_nccl_timeout, default_pg_timeout

__all__ = [
    *_distributed.__all__,
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "HashStore",
    "PrefixStore",
    "Store",
    "TCPStore",
    "default_pg_nccl_timeout",
    "default_pg_timeout",
    "rendezvous",
]


def _get_default_group() -> ProcessGroup:
    """The world. Raises ValueError before `init_process_group`."""
    return GroupMember.of(None)


def _rank_not_in_group(group: Any) -> bool:
    """Whether this process is outside of `group`."""
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def _get_pg_default_device(group: Any = None) -> Any:
    """The device of collectives: the CPU."""
    return _C.device("cpu")


def _resolve_process_group(group_name: str) -> ProcessGroup:
    """The group of a name. Raises RuntimeError for a name that no group has."""
    world = current_group()
    if world is None or world.group_name != group_name:
        raise RuntimeError(f"Could not resolve the process group {group_name!r}")
    return world


def _get_group_tag(pg: Any) -> str:
    """The tag of a group, which only compiled programs give."""
    return ""


__getattr__ = _lacking(__name__)
