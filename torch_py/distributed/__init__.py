"""`torch.distributed` for a world of one process, in which collectives return their inputs.

Larger worlds raise NotImplementedError.

`is_available()` is False, as portable programs then do without; those that do not ask can still initialize a
world of one.
"""

from __future__ import annotations

import os
from datetime import timedelta
from importlib import import_module
from typing import Any

from torch_py import _pytorch_names, cuda
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.distributed import device_mesh
from torch_py.distributed._collectives import (
    _all_gather_base,
    _reduce_scatter_base,
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_object,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    broadcast_object_list,
    gather,
    gather_object,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    scatter_object_list,
)
from torch_py.distributed._stores import FileStore, HashStore, PrefixStore, Store, TCPStore, rendezvous
from torch_py.distributed._world import (
    Backend,
    DistBackendError,
    DistError,
    DistNetworkError,
    DistStoreError,
    GroupMember,
    P2POp,
    ProcessGroup,
    ReduceOp,
    Work,
    absent,
    current_group,
    group,
    set_world,
)
from torch_py.distributed.constants import default_pg_timeout
from torch_py.distributed.device_mesh import DeviceMesh, init_device_mesh

__all__ = [
    "Backend",
    "DeviceMesh",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "FileStore",
    "GroupMember",
    "HashStore",
    "P2POp",
    "PrefixStore",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "TCPStore",
    "Work",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "default_pg_timeout",
    "destroy_process_group",
    "device_mesh",
    "gather",
    "gather_object",
    "get_backend",
    "get_default_backend_for_device",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_device_mesh",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_op",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "rendezvous",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]

# Imported when they are first named.
_LAZY_MODULES = (
    "_composable",
    "_functional_collectives",
    "_tensor",
    "algorithms",
    "checkpoint",
    "distributed_c10d",
    "fsdp",
    "nn",
    "optim",
    "rpc",
    "tensor",
    "utils",
)


_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> Any:
    if name in _LAZY_MODULES or name in _pytorch_names.names_in("torch_py.distributed"):
        return import_module(f"torch_py.distributed.{name}")
    return _absent(name)


def is_available() -> bool:
    """Always False: torch_py does not connect processes."""
    return False


def is_initialized() -> bool:
    return current_group() is not None


def is_nccl_available() -> bool:
    return False


def is_gloo_available() -> bool:
    return False


def is_mpi_available() -> bool:
    return False


def is_ucc_available() -> bool:
    return False


def is_xccl_available() -> bool:
    return False


def is_backend_available(backend: str) -> bool:
    return False


def is_torchelastic_launched() -> bool:
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Any = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
) -> None:
    """Starts a world of one.

    Size and rank are read from WORLD_SIZE and RANK when not given, and are 1 and 0 when not there either.

    Raises NotImplementedError for a larger world, ValueError for a rank outside it or when there is a world
    already, RuntimeError for the backend "nccl" without a CUDA device.
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if backend is not None and backend.lower() == Backend.NCCL and not cuda.is_available():
        raise RuntimeError(
            f"init_process_group: backend={backend!r} needs a CUDA device; none was found, use 'gloo'"
        )

    size = int(os.environ.get("WORLD_SIZE", 1)) if world_size < 0 else world_size
    number = int(os.environ.get("RANK", 0)) if rank < 0 else rank

    if size > 1:
        raise NotImplementedError(
            "torch.distributed.init_process_group: torch_py has worlds of one process only, got "
            f"world_size={size}"
        )
    if size < 1 or number != 0:
        raise ValueError(
            f"init_process_group: expected rank 0 in a world of 1, got rank={number}, world_size={size}"
        )

    set_world(ProcessGroup(backend or "gloo"))


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Ends the world, or a group made by `new_group`. Raises AssertionError without one."""
    assert is_initialized(), "Default process group is not initialized"
    if group is None or group is current_group():
        set_world(None)


def new_group(
    ranks: Any = None, timeout: Any = None, backend: str | None = None, **options: Any
) -> ProcessGroup | int:
    """A group of `ranks`: of this process, or GroupMember.NON_GROUP_MEMBER when it is not among them."""
    world = GroupMember.of(None)
    if ranks is not None and any(rank != 0 for rank in ranks):
        raise ValueError(f"new_group: expected ranks in a world of 1, got {list(ranks)}")
    return (
        GroupMember.NON_GROUP_MEMBER
        if ranks is not None and not list(ranks)
        else ProcessGroup(backend or world.name())
    )


def get_rank(group: Any = None) -> int:
    """0. Raises ValueError before `init_process_group`."""
    return GroupMember.of(group).rank()


def get_world_size(group: Any = None) -> int:
    """1. Raises ValueError before `init_process_group`."""
    return GroupMember.of(group).size()


def get_backend(group: Any = None) -> str:
    return GroupMember.of(group).name()


def get_process_group_ranks(group: Any = None) -> list[int]:
    GroupMember.of(group)
    return [0]


def get_global_rank(group: Any, group_rank: int) -> int:
    return group_rank


def get_group_rank(group: Any, global_rank: int) -> int:
    return global_rank


def get_default_backend_for_device(device: Any) -> str:
    """The backend that a kind of device usually has. Raises ValueError for kinds without one."""
    kind = str(device).partition(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """LOCAL_RANK of the environment, else `fallback_rank`. Raises RuntimeError without both."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is None:
        raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank.")
    return fallback_rank


def new_subgroups(
    group_size: int | None = None, group: Any = None, **options: Any
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Groups of `group_size` processes each: the group of this process, and all groups.

    Raises ValueError unless the size is 1.
    """
    world = GroupMember.of(group)
    if group_size is not None and group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if group_size not in (None, 1):
        raise ValueError(
            f"The arg 'group_size' ({group_size}) must not exceed the world size ({world.size()})"
        )
    made = ProcessGroup(world.name())
    return made, [made]


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: list[list[int]], **options: Any
) -> tuple[ProcessGroup, list[ProcessGroup]]:
    """Groups of the given ranks: the group of this process, and all. Raises ValueError unless [[0]]."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    if [list(ranks) for ranks in ranks_per_subgroup_list] != [[0]]:
        raise ValueError(
            f"new_subgroups_by_enumeration: expected [[0]] in a world of 1, got {ranks_per_subgroup_list}"
        )
    return new_subgroups(1)


send = absent("send")
batch_isend_irecv = absent("batch_isend_irecv")
send_object_list = absent("send_object_list")
recv_object_list = absent("recv_object_list")
reduce_op = ReduceOp  # the older name
recv = absent("recv")
isend = absent("isend")
irecv = absent("irecv")
