"""Collectives that return their results at once, in a world of one process.

A `group` may also be a mesh, a mesh and its dimension, or a list of ranks, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.distributed._collectives import check_splits
from torch_py.distributed._world import GroupMember, ProcessGroup, ReduceOp
from torch_py.distributed.device_mesh import DeviceMesh
from torch_py.utils._pytree import tree_leaves


class AsyncCollectiveTensor(Tensor):
    """The type of results that are still on their way. In one process, results are plain tensors."""


def _check(name: str, group: Any) -> None:
    """Raises ValueError for a group that is not this process alone."""
    is_mesh = isinstance(group, DeviceMesh) or (
        isinstance(group, tuple) and len(group) == 2 and isinstance(group[0], DeviceMesh)
    )
    if is_mesh:
        return
    if isinstance(group, (list, tuple)):
        if any(rank != 0 for rank in tree_leaves(group)):
            raise ValueError(f"{name}: expected the rank 0 of a world of 1, got {group}")
        return
    GroupMember.of(group)


def _check_reduction(name: str, reduction: str) -> None:
    if str(reduction).upper() not in ReduceOp.__members__:
        raise ValueError(
            f"{name}: expected a reduction of {', '.join(ReduceOp.__members__)}, got {reduction!r}"
        )


def _resolve_group_name(group: Any, tag: str = "") -> str:
    """The name of a group."""
    found = GroupMember.of(group if isinstance(group, ProcessGroup) else None)
    return found.group_name


def is_torchdynamo_compiling() -> bool:
    return False


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, once it has arrived."""
    return tensor


def broadcast(self: Tensor, src: int, group: Any = None, tag: str = "") -> Tensor:
    """The tensor of process `src`. Raises ValueError for another process than this one."""
    _check("broadcast", group)
    if src != 0:
        raise ValueError(f"broadcast: expected rank 0 in a world of 1, got {src}")
    return self.clone()


def all_reduce(self: Tensor, reduceOp: str, group: Any = None, tag: str = "") -> Tensor:
    """The tensors of all processes combined by `reduceOp`."""
    _check("all_reduce", group)
    _check_reduction("all_reduce", reduceOp)
    return self.clone()


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any = None, tag: str = "") -> Tensor:
    """The tensors of all processes, concatenated along `gather_dim`."""
    _check("all_gather_tensor", group)
    return self.clone()


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: Any = None, tag: str = ""
) -> Tensor:
    """This process's part along `scatter_dim` of the tensors combined by `reduceOp`."""
    _check("reduce_scatter_tensor", group)
    _check_reduction("reduce_scatter_tensor", reduceOp)
    return self.clone()


def all_to_all_single(
    self: Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any = None,
    tag: str = "",
) -> Tensor:
    """The parts of the tensors that the processes have for this one."""
    _check("all_to_all_single", group)
    check_splits("all_to_all_single", "input_split_sizes", input_split_sizes, self)
    check_splits("all_to_all_single", "output_split_sizes", output_split_sizes, self)
    return self.clone()


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any = None, tag: str = "") -> Tensor:
    """The tensor of the process that sends to this one. Raises ValueError for other processes."""
    _check("permute_tensor", group)
    if list(src_dst) != [0]:
        raise ValueError(f"permute_tensor: expected src_dst [0] in a world of 1, got {list(src_dst)}")
    return self.clone()


all_gather_tensor_autograd = all_gather_tensor
all_to_all_single_autograd = all_to_all_single
reduce_scatter_tensor_autograd = reduce_scatter_tensor
