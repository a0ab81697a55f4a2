"""Collectives that return new tensors and have gradients, in a world of one process.

Every function raises ValueError before `init_process_group`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._tensor import Tensor
from torch_py.distributed._collectives import _check, _one, check_splits
from torch_py.distributed._world import ReduceOp

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of process `src`."""
    _check("nn.functional.broadcast", group, src)
    return tensor.clone()


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes, at process `dst`."""
    _check("nn.functional.gather", group, dst)
    return (tensor.clone(),)


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """The one of process `src`'s tensors that is for this process."""
    _check("nn.functional.scatter", group, src)
    return _one("nn.functional.scatter", "tensors", tensors).clone()  # type: ignore[no-any-return]


def reduce(tensor: Tensor, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The tensors of all processes combined by `op`, at process `dst`."""
    _check("nn.functional.reduce", group, dst)
    return tensor.clone()


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: Any = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """This process's part of `input_list`, combined over the processes by `op`, in the shape of `output`."""
    _check("nn.functional.reduce_scatter", group)
    return _one("nn.functional.reduce_scatter", "input_list", input_list).reshape(output.shape).clone()  # type: ignore[no-any-return]


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """The tensors of all processes."""
    _check("nn.functional.all_gather", group)
    return (tensor.clone(),)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """The tensors that the processes have for this one."""
    _check("nn.functional.all_to_all", group)
    _one("nn.functional.all_to_all", "output_tensor_list", output_tensor_list)
    return (_one("nn.functional.all_to_all", "input_tensor_list", input_tensor_list).clone(),)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
) -> Tensor:
    """The parts of the tensors that the processes have for this one, in one tensor."""
    _check("nn.functional.all_to_all_single", group)
    check_splits("nn.functional.all_to_all_single", "input_split_sizes", input_split_sizes, input)
    check_splits("nn.functional.all_to_all_single", "output_split_sizes", output_split_sizes, output)
    return input.reshape(output.shape).clone()


def all_reduce(tensor: Tensor, op: Any = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The tensors of all processes combined by `op`."""
    _check("nn.functional.all_reduce", group)
    return tensor.clone()
