"""Tensors that represent a batch of tensors, and the settings of the running `vmap`s."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.engine import detached, gradients
from torch_py._functorch.levels import (
    Gradients,
    WrappedTensor,
    highest_level,
    is_at,
    running_batches,
    shell_of,
    wrap,
)
from torch_py._tensor import Tensor
from torch_py._torch_function import DisableTorchFunction
from torch_py.utils._pytree import TreeSpec, _get_node_type

DATA_DEPENDENT = (
    "needs its values, and vmap cannot know which member of the batch is meant: use operators "
    "on tensors (torch.where for conditions)"
)


class BatchedTensor(WrappedTensor):
    """A batch of tensors of one shape: the first dimension of `value`
    counts them. batch_rules.py sets `transform`."""

    batch_size: int

    @staticmethod
    def gradients(
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        create_graph: bool,
        level: int,
    ) -> Gradients:
        """Members of a batch do not depend on one another, so the gradient
        of their sum holds the gradient of each."""
        size = next(
            t.batch_size
            for t in (*outputs, *inputs, *weights)
            if isinstance(t, BatchedTensor) and t.level == level
        )

        def members(tensors: Sequence[Tensor]) -> list[Tensor]:
            return [as_batched(t, level, size).value for t in tensors]

        own = [t for t in inputs if is_at(t, level)]
        found = iter(gradients(members(outputs), members(own), members(weights), create_graph) if own else ())

        # The graph of the other inputs was recorded outside, without the batch.
        outer = [t for t in inputs if not is_at(t, level)]
        rows = iter(_one_by_one(outputs, outer, weights, create_graph, level, size) if outer else ())

        by_member = (None if g is None else batched(g, level) for g in found)
        return [next(by_member) if is_at(t, level) else next(rows) for t in inputs]

    def as_number(self, kind: type) -> Any:
        raise RuntimeError(f"vmap: {kind.__name__}() of a tensor inside of vmap {DATA_DEPENDENT}")

    def with_value(self, value: Tensor) -> BatchedTensor:
        return batched(value, self.level)

    def detached(self) -> BatchedTensor:
        return batched(detached(self.value), self.level)


def member(tensor: Any, level: int, index: int) -> Any:
    return tensor.value.select(0, index) if is_at(tensor, level) else tensor


def _one_by_one(
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor],
    weights: Sequence[Tensor],
    create_graph: bool,
    level: int,
    size: int,
) -> Gradients:
    """The gradient of each member of the batch, with respect to inputs that all members share."""
    if size == 0:
        return [batched(t.new_zeros((0, *t.shape)), level) for t in inputs]

    rows = []
    for index in range(size):
        of_member = [[member(t, level, index) for t in tensors] for tensors in (outputs, weights)]
        rows.append(gradients(of_member[0], inputs, of_member[1], create_graph))

    # Members have the same graph, so that an input is unused by all of them or by none.
    return [
        None if column[0] is None else batched(_C._torch.stack(list(column)), level) for column in zip(*rows)
    ]


def batched(value: Tensor, level: int) -> BatchedTensor:
    with DisableTorchFunction():
        shell = shell_of(value)
        size = shell.shape[0]
        shell = shell.select(0, 0) if size > 0 else shell.new_empty(shell.shape[1:])
        result: BatchedTensor = wrap(BatchedTensor, shell, value, level)
    result.batch_size = size
    return result


def as_batched(tensor: Tensor, level: int, size: int) -> BatchedTensor:
    """`tensor` itself if it is a batch, else a batch of `size` times `tensor`."""
    if isinstance(tensor, BatchedTensor) and tensor.level == level:
        return tensor
    return batched(tensor.expand(size, *tensor.shape), level)


def spread(tensor: Tensor) -> Tensor:
    """`tensor` as a member of every running batch, each in memory of its own, so that each can have a
    gradient of its own."""
    for level, size in running_batches():
        if highest_level(tensor) < level:
            tensor = batched(
                tensor.expand(size, *tensor.shape).clone(memory_format=_C.contiguous_format), level
            )
    return tensor


# Settings of vmap
# ------------------------------------------------------------


def _broadcast_dims(dims: Any, spec: TreeSpec, what: str) -> list[Any]:
    """One entry of `dims` for each leaf; raises ValueError if it is not a prefix of the tree."""
    if isinstance(dims, int) or dims is None:
        return [dims] * spec.num_leaves
    if spec.is_leaf() or _get_node_type(dims) is not spec.type or len(dims) != len(spec.children_specs):
        raise ValueError(
            f"vmap: {what} is not compatible with the structure of what it describes, got {what}={dims}"
        )
    entries = [dims[key] for key in spec.context] if isinstance(dims, dict) else list(dims)
    return [
        d for entry, child in zip(entries, spec.children_specs) for d in _broadcast_dims(entry, child, what)
    ]


class _Modes(threading.local):
    """The treatment of random operators in the running `vmap`s of each thread, innermost last."""

    def __init__(self) -> None:
        self.stack = ["error"]


_MODES = _Modes()


class _randomness:
    """Sets the treatment of random operators inside a block."""

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        _MODES.stack.append(self.mode)

    def __exit__(self, *exception: object) -> None:
        _MODES.stack.pop()


def randomness() -> str:
    return _MODES.stack[-1]
