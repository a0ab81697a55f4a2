"""Operators along dimensions of a few elements, in random layouts, compared with NumPy and PyTorch.

Run with the first seed and the number of seeds. Prints ``ok`` or the first difference.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as peer

import torch_py as torch

_DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
_SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 33, 64, 65)
_OTHERS = (0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 65, 130)

# Of results that are rounded, the largest relative error.
_TOLERANCES = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-12}

Result = tuple[str, Any, Any]  # what was computed, by torch_py, and what is expected


@dataclass(frozen=True)
class Case:
    """The same elements for NumPy, torch_py and PyTorch, in the same layout, and an axis of few elements.

    NumPy has float32 in place of bfloat16.
    """

    dtype: str
    values: Any
    ours: Any
    theirs: Any
    axis: int


def _numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Few different numbers, the extremes of the dtype, and nan where it has that."""
    if "float" not in dtype:
        values = rng.integers(0, 4, shape).astype(dtype)
        if dtype != "bool":
            limits = np.iinfo(dtype)
            values[rng.random(shape) < 0.1] = limits.min
            values[rng.random(shape) < 0.1] = limits.max
        return values

    values = rng.choice([-2.5, -1, 0, 0.5, 3], shape).astype("float32" if dtype == "bfloat16" else dtype)
    for special in (-0.0, np.inf, -np.inf, np.nan):
        values[rng.random(shape) < 0.06] = special
    return values


def _case(rng: np.random.Generator) -> Case:
    """Up to three dimensions in some layout."""
    dim = int(rng.integers(1, 4))
    axis = int(rng.integers(0, dim))
    shape = [int(rng.choice(_OTHERS)) for _ in range(dim)]
    shape[axis] = int(rng.choice(_SIZES))

    order = rng.permutation(dim)
    step = int(rng.integers(1, 3))
    dtype = str(rng.choice(_DTYPES))
    memory = _numbers(rng, tuple(shape[d] for d in order[:-1]) + (shape[order[-1]] * step,), dtype)
    dims = [int(d) for d in np.argsort(order)]
    ours, theirs = (
        library.from_numpy(memory).to(getattr(library, dtype))[..., ::step].permute(dims)
        for library in (torch, peer)
    )
    return Case(dtype, memory[..., ::step].transpose(dims), ours, theirs, axis)


def _array(result: Any) -> Any:
    if isinstance(result, np.ndarray):
        return result
    return (result.float() if result.dtype in (torch.bfloat16, peer.bfloat16) else result).numpy()


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
        yield name, result.values, expected.values
        yield f"indices of {name}", result.indices, expected.indices
    for name in ("any", "all", "amax"):
        yield name, getattr(torch, name)(ours, axis), getattr(peer, name)(theirs, axis)
    if ours.dtype is not torch.bool:
        yield "argmin", torch.argmin(ours, axis), peer.argmin(theirs, axis)

    for shift in (1, -2):
        yield "roll", torch.roll(ours, (shift, 1), (axis, 0)), peer.roll(theirs, (shift, 1), (axis, 0))
    for dims in ((axis,), tuple(range(ours.dim()))):
        yield "flip", torch.flip(ours, dims), peer.flip(theirs, dims)


def chosen(ours: Any, theirs: Any, axis: int, rng: np.random.Generator) -> Iterator[Result]:
    shape = list(ours.shape)
    index = rng.integers(0, shape[axis], (*shape[:axis], int(rng.integers(1, 20)), *shape[axis + 1 :]))
    here, there = torch.from_numpy(index), peer.from_numpy(index)
    yield "gather", torch.gather(ours, axis, here), peer.gather(theirs, axis, there)
    yield "scatter", torch.scatter(ours, axis, here, 1), peer.scatter(theirs, axis, there, 1)

    positions = rng.integers(0, shape[axis], int(rng.integers(1, 20)))
    here, there = torch.from_numpy(positions), peer.from_numpy(positions)
    yield "index_select", torch.index_select(ours, axis, here), peer.index_select(theirs, axis, there)


def of_nothing(ours: Any, theirs: Any, axis: int) -> Iterator[Result]:
    """Along a dimension of size 0: the identity, an empty result, or an error of the same type."""
    for name in ("any", "all", "sum", "prod", "cumsum"):
        yield name, getattr(torch, name)(ours, axis), getattr(peer, name)(theirs, axis)
    yield "sort", torch.sort(ours, dim=axis).values, peer.sort(theirs, dim=axis).values
    for name in ("amax", "max", "argmax", "cummax"):
        yield name, _outcome(torch, name, ours, axis), _outcome(peer, name, theirs, axis)


def _outcome(library: Any, name: str, tensor: Any, axis: int) -> Any:
    """The result, or the first of several, or the name of the error."""
    try:
        result = getattr(library, name)(tensor, axis)
    except (IndexError, RuntimeError) as error:
        return np.array(type(error).__name__)
    return result[0] if isinstance(result, tuple) else result


def rounded(library: Any, tensor: Any, axis: int) -> Iterator[tuple[str, Any]]:
    """Results that depend on the order of additions."""
    yield "sum", library.sum(tensor, axis)
    yield "mean", library.mean(tensor, axis)
    yield "vector_norm", library.linalg.vector_norm(tensor, dim=axis)
    yield "softmax", library.softmax(tensor, axis)
    yield "log_softmax", library.log_softmax(tensor, axis)


def _check_rounded(case: Case) -> str:
    """Rounded results are precise, and the same on one thread and on several."""
    threads = torch.get_num_threads()
    results = dict(rounded(torch, case.ours, case.axis))
    torch.set_num_threads(1)
    alone = dict(rounded(torch, case.ours, case.axis))
    torch.set_num_threads(threads)

    tolerance = _TOLERANCES[case.dtype]
    for name, expected in rounded(peer, case.theirs.double(), case.axis):
        result = _array(results[name])
        if not np.array_equal(result, _array(alone[name]), equal_nan=True):
            return f"{name} on {threads} threads and on one"
        if not np.allclose(result, expected.numpy(), tolerance, tolerance, equal_nan=True):
            return name
    return ""


def _check_position(rng: np.random.Generator) -> str:
    """The results of equal rows are equal, wherever the rows are."""
    n, count = int(rng.integers(1, 70)), int(rng.choice([2, 5, 33, 100, 5000]))
    dtype = str(rng.choice(["float32", "float64", "complex64", "complex128"]))
    row = rng.standard_normal(n) + (1j * rng.standard_normal(n) if dtype.startswith("c") else 0)
    rows = torch.from_numpy(row.astype(dtype)).expand(count, n).contiguous()

    results = {
        "sum": torch.sum(rows, 1),
        "prod": torch.prod(rows, 1),
        "norm": torch.linalg.vector_norm(rows, dim=1),
    }
    for name, result in results.items():
        if len(np.unique(result.numpy())) != 1:
            return f"{name} of {count} equal rows of {n} elements of {dtype}"
    return ""


def _check_exact(case: Case, rng: np.random.Generator) -> str:
    values = case.values
    ours = case.ours
    theirs = case.theirs
    axis = case.axis
    if values.shape[axis] == 0:
        results = [*of_nothing(ours, theirs, axis)]
    else:
        results = [*ordered(ours, values, axis, rng)]
        if ours.dtype is not torch.bool:
            results += selected(ours, values, axis, rng)
        if values.size:
            results += [*with_peer(ours, theirs, axis), *chosen(ours, theirs, axis, rng)]

    for name, result, expected in results:
        found, wanted = _array(result), _array(expected)
        if not np.array_equal(found, wanted, equal_nan=wanted.dtype.kind == "f"):
            return name
    return ""


def _check(seed: int) -> str:
    rng = np.random.default_rng(seed)
    case = _case(rng)
    wrong = _check_exact(case, rng)
    if not wrong and case.dtype in _TOLERANCES and case.values.shape[case.axis] != 0:
        wrong = _check_rounded(case)
    if wrong:
        layout = f"{case.dtype} {case.values.shape} {case.ours.stride()}"
        return f"{wrong} of {layout}, axis {case.axis}, seed {seed}"
    return next(filter(None, (_check_position(rng) for _ in range(5))), "")


if __name__ == "__main__":
    first, count = int(sys.argv[1]), int(sys.argv[2])
    found = next(filter(None, map(_check, range(first, first + count))), "ok")
    print(found)
