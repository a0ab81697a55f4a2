"""Operators along dimensions of a few elements, in random layouts, compared with NumPy and PyTorch.

Run with the first seed and the number of seeds. Prints ``ok`` or the first difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch as peer

import torch_py as torch

_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
_SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33, 64, 65)
_OTHERS = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 130)

Result = tuple[str, Any, Any]  # what was computed, by torch_py, and what is expected


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Few different numbers, the extremes of the dtype, and nan where it has that."""
    if not dtype.startswith("float"):
        values = rng.integers(0, 4, shape).astype(dtype)
        if dtype != "bool":
            limits = np.iinfo(dtype)
            values[rng.random(shape) < 0.1] = limits.min
            values[rng.random(shape) < 0.1] = limits.max
        return values

    values = rng.choice([-2.5, -1, 0, 0.5, 3], shape).astype(dtype)
    for special in (-0.0, np.inf, -np.inf, np.nan):
        values[rng.random(shape) < 0.06] = special
    return values


def _case(rng: np.random.Generator) -> tuple[Any, int]:
    """An array of up to three dimensions in some layout, and an axis of few elements."""
    dim = int(rng.integers(1, 4))
    axis = int(rng.integers(0, dim))
    shape = [int(rng.choice(_OTHERS)) for _ in range(dim)]
    shape[axis] = int(rng.choice(_SIZES))

    order = rng.permutation(dim)
    step = int(rng.integers(1, 3))
    memory = _numbers(
        rng, tuple(shape[d] for d in order[:-1]) + (shape[order[-1]] * step,), str(rng.choice(_DTYPES))
    )
    return memory[..., ::step].transpose(np.argsort(order)), axis


def _stable_order(values: Any, axis: int, descending: bool = False) -> Any:
    """Equal elements in the order of their indices; nan is the largest."""
    if not descending:
        return np.argsort(values, axis=axis, kind="stable")
    turned = np.flip(values, axis)
    last = values.shape[axis] - 1
    return last - np.flip(np.argsort(turned, axis=axis, kind="stable"), axis)


def _taken(values: Any, indices: Any, axis: int) -> Any:
    return np.take_along_axis(values, np.expand_dims(indices, axis), axis).squeeze(axis)


def _at_rank(order: Any, rank: Any, axis: int) -> Any:
    """The indices at `rank`, which has one entry for each lane."""
    return _taken(order, np.broadcast_to(rank, order.shape[:axis] + order.shape[axis + 1 :]), axis)


def _mode_index(lane: Any) -> int:
    """The last of the lowest of the most frequent; every nan is a number of its own."""
    best, found = (0, 0.0), 0
    for i in np.argsort(lane, kind="stable"):
        if lane[i] != lane[i]:
            return int(found) if best[0] else int(i)
        count = int((lane == lane[i]).sum())
        if count > best[0] or (count == best[0] and lane[i] == best[1]):
            best, found = (count, lane[i]), int(i)
    return found


def ordered(ours: Any, values: Any, axis: int, rng: np.random.Generator) -> Iterator[Result]:
    n = values.shape[axis]
    for descending in (False, True):
        order = _stable_order(values, axis, descending)
        result = torch.sort(ours, dim=axis, descending=descending, stable=True)
        yield "sort", result.indices, order
        yield "sorted values", result.values, np.take_along_axis(values, order, axis)

        if ours.dtype is torch.bool:
            continue
        k = int(rng.integers(1, n + 1))
        found = torch.topk(ours, k, axis, largest=descending)
        yield "topk", found.values, np.take_along_axis(values, order.take(range(k), axis), axis)
        if n <= 16:
            yield "indices of topk", found.indices, order.take(range(k), axis)


def selected(ours: Any, values: Any, axis: int, rng: np.random.Generator) -> Iterator[Result]:
    n = values.shape[axis]
    order = _stable_order(values, axis)
    nans = (values != values).sum(axis)
    ranks = {
        "median": np.where(nans > 0, n - nans, (n - 1) // 2),
        "nanmedian": np.maximum(n - nans - 1, 0) // 2,
    }
    for name, rank in ranks.items():
        result = getattr(torch, name)(ours, axis)
        yield f"indices of {name}", result.indices, _at_rank(order, rank, axis)
        yield name, result.values, _taken(values, _at_rank(order, rank, axis), axis)

    k = int(rng.integers(1, n + 1))
    kth = torch.kthvalue(ours, k, axis, keepdim=True)
    yield "kthvalue", kth.indices, order.take([k - 1], axis)
    yield "values of kthvalue", kth.values, np.take_along_axis(values, order.take([k - 1], axis), axis)

    mode = torch.mode(ours, axis)
    places = np.apply_along_axis(_mode_index, axis, values) if values.size else np.empty(nans.shape, int)
    yield "mode", mode.indices, places
    yield "values of mode", mode.values, _taken(values, places, axis)


def with_peer(ours: Any, theirs: Any, axis: int) -> Iterator[Result]:
    """What both define alike, down to the indices."""
    for name in ("max", "min", "cummax", "cummin"):
        result, expected = getattr(torch, name)(ours, axis), getattr(peer, name)(theirs, axis)
        yield name, result.values, expected.values.numpy()
        yield f"indices of {name}", result.indices, expected.indices.numpy()
    for name in ("any", "all", "amax"):
        yield name, getattr(torch, name)(ours, axis), getattr(peer, name)(theirs, axis).numpy()
    if ours.dtype is not torch.bool:
        yield "argmin", torch.argmin(ours, axis), peer.argmin(theirs, axis).numpy()

    for shift in (1, -2):
        yield (
            "roll",
            torch.roll(ours, (shift, 1), (axis, 0)),
            peer.roll(theirs, (shift, 1), (axis, 0)).numpy(),
        )
    for dims in ((axis,), tuple(range(ours.dim()))):
        yield "flip", torch.flip(ours, dims), peer.flip(theirs, dims).numpy()


def chosen(ours: Any, theirs: Any, axis: int, rng: np.random.Generator) -> Iterator[Result]:
    shape = list(ours.shape)
    index = rng.integers(0, shape[axis], (*shape[:axis], int(rng.integers(1, 20)), *shape[axis + 1 :]))
    here, there = torch.from_numpy(index), peer.from_numpy(index)
    yield "gather", torch.gather(ours, axis, here), peer.gather(theirs, axis, there).numpy()
    yield "scatter", torch.scatter(ours, axis, here, 1), peer.scatter(theirs, axis, there, 1).numpy()

    positions = rng.integers(0, shape[axis], int(rng.integers(1, 20)))
    yield (
        "index_select",
        torch.index_select(ours, axis, torch.from_numpy(positions)),
        peer.index_select(theirs, axis, peer.from_numpy(positions)).numpy(),
    )


def _check(seed: int) -> str:
    rng = np.random.default_rng(seed)
    values, axis = _case(rng)
    ours, theirs = torch.from_numpy(values), peer.from_numpy(values)

    results = [*ordered(ours, values, axis, rng)]
    if ours.dtype is not torch.bool:
        results += selected(ours, values, axis, rng)
    if values.size:
        results += [*with_peer(ours, theirs, axis), *chosen(ours, theirs, axis, rng)]
    for name, result, expected in results:
        if not np.array_equal(result.numpy(), expected, equal_nan=expected.dtype.kind == "f"):
            return f"{name} of {values.dtype} {values.shape} {values.strides}, axis {axis}, seed {seed}"
    return ""


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    found = next(filter(None, map(_check, range(first, first + count))), "ok")
    print(found)
