"""`vmap`: functions applied to every member of a batch at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from torch_py import _C
from torch_py._functorch.batching import _broadcast_dims, batched, members
from torch_py._functorch.levels import is_at, new_level
from torch_py._tensor import Tensor
from torch_py.utils._pytree import tree_flatten, tree_leaves, tree_unflatten


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Returns a function that applies `func` to every slice of its arguments and stacks the results.

    `func` is called once, or once for each chunk, on tensors that hide the mapped dimension, so most
    operators compute all slices in one call. Keyword arguments of the returned function are not mapped: every
    slice gets them whole.

    Args:
        func: a function of tensors, or of nested containers of tensors, that returns the same
        in_dims: the dimension of the arguments to map over: an integer for all of them, or a tuple with an
            entry, which may be nested, for each argument; None for an argument that is not mapped; default 0
        out_dims: where the mapped dimension is in the results: an integer for all of them, or a tuple with an
            entry for each; default 0
        randomness: what random operators do: "error", they raise RuntimeError; "different", each slice gets
            random numbers of its own; "same", all slices share them; default "error"
        chunk_size: the most slices that one call of `func` computes; default None, for all slices

    Raises:
        ValueError: if `in_dims` or `out_dims` does not fit the arguments or results, or if mapped dimensions
            have different sizes
        RuntimeError: for an unknown `randomness`

    Example:
        >>> torch.vmap(torch.dot)(torch.ones(3, 2), torch.ones(3, 2))
        tensor([2., 2., 2.])
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
            def part(leaf: Tensor, dim: int, level: int) -> Tensor:
                front = leaf.movedim(dim, 0) if dim != 0 else leaf
                return batched(front if (start, stop) == (0, size) else front[start:stop], level)  # type: ignore[no-any-return]

            with new_level(stop - start, randomness) as level:
                values = [leaf if dim is None else part(leaf, dim, level) for leaf, dim in zip(leaves, dims)]
                result = func(*spec.unflatten(values), **kwargs)
                return _stripped(result, level, stop - start, out_dims, name)

        if chunk_size is None or size <= chunk_size:
            return run(0, size)
        return _joined(
            [run(start, min(start + chunk_size, size)) for start in range(0, size, chunk_size)], out_dims
        )

    return mapped


def _checked_dims(
    leaves: Sequence[Any], dims: Sequence[Any], name: str, in_dims: Any
) -> tuple[list[Any], int]:
    """in_dims without negative numbers, and the size that they share."""
    checked = []
    sizes = {}
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
        if dim is None:
            if is_at(leaf, level):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
                )
            values.append(leaf)
        else:
            value = members(leaf, level, size)
            values.append(value.movedim(0, dim) if dim != 0 else value)

    return tree_unflatten(values, spec)


def _joined(chunks: Sequence[Any], out_dims: Any) -> Any:
    spec = tree_flatten(chunks[0])[1]
    dims = _broadcast_dims(out_dims, spec, "out_dims")
    columns = zip(*(tree_leaves(chunk) for chunk in chunks))
    return spec.unflatten(c[0] if d is None else _C._torch.cat(list(c), d) for c, d in zip(columns, dims))
