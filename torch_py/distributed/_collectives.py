"""Collective operations in a world of one process: outputs are copies of the inputs.

Every function raises ValueError before `init_process_group`, and for ranks other than 0. With
``async_op=True`` it returns a `Work`.
"""

from __future__ import annotations

from typing import Any

from torch_py.autograd.grad_mode import no_grad
from torch_py.distributed._world import GroupMember, ReduceOp, Work


def _done(async_op: bool) -> Work | None:
    return Work() if async_op else None


def _check(name: str, group: Any, *ranks: int | None) -> None:
    """Raises ValueError before `init_process_group`, and for a rank of the world or the group but 0."""
    GroupMember.of(group)
    for rank in ranks:
        if rank not in (0, None):
            raise ValueError(f"torch.distributed.{name}: expected rank 0 in a world of 1, got {rank}")


def _one(name: str, argument: str, values: Any) -> Any:
    if len(values) != 1:
        raise ValueError(
            f"torch.distributed.{name}: expected {argument} of one element in a world of 1, got {len(values)}"
        )
    return values[0]


def check_splits(name: str, argument: str, sizes: Any, tensor: Any) -> None:
    """Raises ValueError unless the parts of `tensor`, one for each process, are the whole."""
    if sizes and list(sizes) != [tensor.shape[0]]:
        raise ValueError(
            f"torch.distributed.{name}: expected {argument} [{tensor.shape[0]}] in a world of 1, "
            f"got {list(sizes)}"
        )


def _copy(target: Any, source: Any) -> None:
    with no_grad():
        target.copy_(source.reshape(target.shape))


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Work | None:
    _check("all_reduce", group)
    return _done(async_op)


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    _check("reduce", group, dst, group_dst)
    return _done(async_op)


def broadcast(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    _check("broadcast", group, src, group_src)
    return _done(async_op)


def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    _check("broadcast_object_list", group, src, group_src)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    _check("barrier", group)
    return _done(async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> None:
    _check("monitored_barrier", group)


def all_gather(tensor_list: list[Any], tensor: Any, group: Any = None, async_op: bool = False) -> Work | None:
    _check("all_gather", group)
    _copy(_one("all_gather", "tensor_list", tensor_list), tensor)
    return _done(async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Work | None:
    _check("all_gather_into_tensor", group)
    _copy(output_tensor, input_tensor)
    return _done(async_op)


def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    _check("all_gather_object", group)
    _one("all_gather_object", "object_list", object_list)
    object_list[0] = obj


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    _check("gather", group, dst, group_dst)
    _copy(_one("gather", "gather_list", gather_list or []), tensor)
    return _done(async_op)


def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    _check("gather_object", group, dst, group_dst)
    gathered = object_gather_list if object_gather_list is not None else []
    _one("gather_object", "object_gather_list", gathered)
    gathered[0] = obj


def scatter(
    tensor: Any,
    scatter_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    _check("scatter", group, src, group_src)
    _copy(tensor, _one("scatter", "scatter_list", scatter_list or []))
    return _done(async_op)


def scatter_object_list(
    output: list[Any],
    input: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    _check("scatter_object_list", group, src, group_src)
    output[0] = _one("scatter_object_list", "scatter_object_input_list", input or [])


def reduce_scatter(
    output: Any, input_list: list[Any], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    _check("reduce_scatter", group)
    _copy(output, _one("reduce_scatter", "input_list", input_list))
    return _done(async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    _check("reduce_scatter_tensor", group)
    _copy(output, input)
    return _done(async_op)


def all_to_all(
    output_tensor_list: list[Any], input_tensor_list: list[Any], group: Any = None, async_op: bool = False
) -> Work | None:
    _check("all_to_all", group)
    _copy(
        _one("all_to_all", "output_tensor_list", output_tensor_list),
        _one("all_to_all", "input_tensor_list", input_tensor_list),
    )
    return _done(async_op)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    _check("all_to_all_single", group)
    check_splits("all_to_all_single", "input_split_sizes", input_split_sizes, input)
    check_splits("all_to_all_single", "output_split_sizes", output_split_sizes, output)
    _copy(output, input)
    return _done(async_op)


_all_gather_base = all_gather_into_tensor
_reduce_scatter_base = reduce_scatter_tensor


def all_reduce_coalesced(
    tensors: list[Any], op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    _check("all_reduce_coalesced", group)
    return _done(async_op)


def all_gather_coalesced(
    output_tensor_lists: list[Any], input_tensor_list: list[Any], group: Any = None, async_op: bool = False
) -> Work | None:
    _check("all_gather_coalesced", group)
    targets = _one("all_gather_coalesced", "output_tensor_lists", output_tensor_lists)
    if len(targets) != len(input_tensor_list):
        raise ValueError(
            "torch.distributed.all_gather_coalesced: expected as many output tensors as input tensors, got "
            f"{len(targets)} and {len(input_tensor_list)}"
        )
    for target, source in zip(targets, input_tensor_list):
        _copy(target, source)
    return _done(async_op)
