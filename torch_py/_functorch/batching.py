"""Tensors that stand for a batch of tensors, and `vmap`."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.engine import detached, gradients
from torch_py._functorch.levels import (
    Gradients,
    WrappedTensor,
    highest_level,
    is_at,
    new_level,
    running_batches,
    shell_of,
    wrap,
)
from torch_py._tensor import Tensor
from torch_py.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

DATA_DEPENDENT = (
    "needs its values, and vmap cannot know which member of the batch is meant: use operators "
    "on tensors (torch.where for conditions)"
)


class BatchedTensor(WrappedTensor):
    """A batch of tensors of one shape: the first dimension of `value` counts them."""

    @staticmethod
    def transform(level: int, func: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        from torch_py._functorch.batch_rules import apply

        return apply(level, func, args, kwargs)

    @staticmethod
    def gradients(
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        weights: Sequence[Tensor],
        create_graph: bool,
        level: int,
    ) -> Gradients:
        """Members of a batch do not depend on one another, so the gradient of their sum holds the gradient of
        each."""
        size = next(
            len(t.value)
            for t in (*outputs, *inputs, *weights)
            if isinstance(t, BatchedTensor) and t.level == level
        )

        def members(tensors: Sequence[Tensor]) -> list[Tensor]:
            return [as_batched(t, level, size).value for t in tensors]

        if not all(is_at(t, level) for t in inputs):  # their graph was recorded outside, without the batch
            return _one_by_one(outputs, inputs, weights, create_graph, level, size)
        found = gradients(members(outputs), members(inputs), members(weights), create_graph)
        return [None if g is None else batched(g, level) for g in found]

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
    rows = []
    for index in range(size):
        of_member = [[member(t, level, index) for t in tensors] for tensors in (outputs, inputs, weights)]
        rows.append(gradients(*of_member, create_graph))
    columns = [
        [g if g is not None else _C._torch.zeros_like(member(t, level, 0)) for g in column]
        for column, t in zip(zip(*rows), inputs)
    ]
    return [batched(_C._torch.stack(column), level) for column in columns] if rows else [None] * len(inputs)


def batched(value: Tensor, level: int) -> BatchedTensor:
    shell = shell_of(value)
    shell = shell.select(0, 0) if shell.shape[0] > 0 else shell.new_empty(shell.shape[1:])
    return wrap(BatchedTensor, shell, value, level)


def as_batched(tensor: Tensor, level: int, size: int) -> BatchedTensor:
    """`tensor` itself, or `size` times the same."""
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


# -- vmap
# ------------------------------------------------------------


def _broadcast_dims(dims: Any, spec: TreeSpec, what: str) -> list[Any]:
    """One entry of `dims` for each leaf; raises ValueError when it is no prefix of the tree."""
    if isinstance(dims, int) or dims is None:
        return [dims] * spec.num_leaves
    if spec.is_leaf() or type(dims) is not spec.type or len(dims) != len(spec.children_specs):
        raise ValueError(
            f"vmap: {what} is not compatible with the structure of what it describes, got {what}={dims}"
        )
    entries = [dims[key] for key in spec.context] if isinstance(dims, dict) else list(dims)
    return [
        d for entry, child in zip(entries, spec.children_specs) for d in _broadcast_dims(entry, child, what)
    ]


def _checked_dims(
    leaves: Sequence[Any], dims: Sequence[Any], name: str, in_dims: Any
) -> tuple[list[Any], int]:
    """in_dims without negative numbers, and the size that they share."""
    checked, sizes = [], {}
    for leaf, dim in zip(leaves, dims):
        if dim is None:
            checked.append(None)
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but in_dim "
                "must be either an "
                "integer dimension or None."
            )
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for an input but the "
                "input is of type "
                f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please use None as the respective "
                "in_dim"
            )
        if not -leaf.dim() <= dim < leaf.dim():
            raise ValueError(
                f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): Got in_dim={dim} for some input, but that "
                "input is a Tensor of "
                f"dimensionality {leaf.dim()} so expected in_dim to satisfy -{leaf.dim()} <= in_dim < "
                f"{leaf.dim()}."
            )
        checked.append(dim % leaf.dim())
        sizes[leaf.shape[checked[-1]]] = None
    if not sizes:
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): at least one input must be mapped over, all "
            "in_dims are None"
        )
    if len(sizes) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{list(sizes)} for the mapped "
            "dimension"
        )
    return checked, next(iter(sizes))


def _stripped(result: Any, level: int, size: int, out_dims: Any, name: str) -> Any:
    """The batches in `result` as tensors, the batch where `out_dims` says."""
    leaves, spec = tree_flatten(result)
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)}. Did you mean "
                "to set out_dims= "
                "to None for output?"
            )
    dims = _broadcast_dims(out_dims, spec, "out_dims")
    values = []
    for leaf, dim in zip(leaves, dims):
        is_batched = isinstance(leaf, BatchedTensor) and leaf.level == level
        if dim is None:
            if is_batched:
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
                )
            values.append(leaf)
        else:
            values.append(as_batched(leaf, level, size).value.movedim(0, dim))
    return tree_unflatten(values, spec)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that applies `func` to every slice of its arguments and stacks the results, without a loop
    where operators allow.

    Args:
        in_dims: the dimension to map over: one for all arguments, or a tree that is a prefix of them; None
        for what is not mapped. out_dims: where the mapped dimension goes in the results.
        randomness: "error": random operators raise RuntimeError; "different": each slice has its own numbers;
        "same": they share them. chunk_size: as many slices at a time.

    Keyword arguments are not mapped: every slice sees them whole.

    Raises ValueError for arguments that `in_dims` or `out_dims` do not fit.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )
    if chunk_size is not None and (chunk_size != int(chunk_size) or chunk_size <= 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    name = getattr(func, "__name__", repr(func))

    @functools.wraps(func, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise ValueError(
                f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying "
                "to vmap over a "
                "function with no inputs. The latter is unsupported."
            )
        leaves, spec = tree_flatten(args)
        described = tuple(in_dims) if isinstance(in_dims, list) and len(args) > 1 else in_dims
        dims, size = _checked_dims(leaves, _broadcast_dims(described, spec, "in_dims"), name, in_dims)

        def run(start: int, stop: int) -> Any:
            def part(leaf: Tensor, dim: int, level: int) -> BatchedTensor:
                front = leaf.movedim(dim, 0)
                return batched(front if (start, stop) == (0, size) else front[start:stop], level)

            from torch_py._functorch.random_batches import OfNoBatch

            with new_level(stop - start) as level, _randomness(randomness), OfNoBatch(level, stop - start):
                values = [leaf if dim is None else part(leaf, dim, level) for leaf, dim in zip(leaves, dims)]
                result = func(*spec.unflatten(values), **kwargs)
                return _stripped(result, level, stop - start, out_dims, name)

        if chunk_size is None or size <= chunk_size:
            return run(0, size)
        return _joined(
            [run(start, min(start + chunk_size, size)) for start in range(0, size, chunk_size)], out_dims
        )

    return mapped


def _joined(chunks: Sequence[Any], out_dims: Any) -> Any:
    spec = tree_flatten(chunks[0])[1]
    dims = _broadcast_dims(out_dims, spec, "out_dims")
    columns = zip(*(tree_leaves(chunk) for chunk in chunks))
    return spec.unflatten(c[0] if d is None else _C._torch.cat(list(c), d) for c, d in zip(columns, dims))


class _Modes(threading.local):
    """Of each thread: what random operators do in the running `vmap`s, innermost last."""

    def __init__(self) -> None:
        self.stack = ["error"]


_MODES = _Modes()


class _randomness:
    """What random operators do for the time of a block."""

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        _MODES.stack.append(self.mode)

    def __exit__(self, *exception: object) -> None:
        _MODES.stack.pop()


def randomness() -> str:
    return _MODES.stack[-1]
