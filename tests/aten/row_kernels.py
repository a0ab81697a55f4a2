"""Kernels of rows and of columns on lengths around their vectors and blocks, compared with NumPy.

Run with the seed. Prints the first difference, else a digest of all results: their bits must not depend on
the number of threads.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import torch_py as torch

_LENGTHS = (1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 130, 255, 256, 257, 783, 1024, 4097)
_DTYPES = (np.float32, np.float64, np.int64, np.int32, np.int16, np.uint8)

Result = tuple[str, Any, Any, float]  # what was computed, by torch_py, by NumPy, and the tolerance


def _matrix(rng: np.random.Generator, rows: int, columns: int, dtype: Any) -> Any:
    if np.issubdtype(dtype, np.floating):
        return rng.standard_normal((rows, columns)).astype(dtype)
    return rng.integers(0, 100, (rows, columns)).astype(dtype)


def _with_specials(rng: np.random.Generator, values: Any) -> Any:
    values = values.copy()
    flat = values.reshape(-1)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        flat[rng.integers(0, flat.size, 1 + flat.size // 400)] = special
    return values


def _running_extremum(values: Any, axis: int) -> tuple[Any, Any]:
    """The last of equal elements counts, and the last nan."""
    lanes = np.moveaxis(values, axis, 0)
    best, places = lanes.copy(), np.zeros(lanes.shape, np.int64)
    for i in range(1, len(lanes)):
        replaced = np.isnan(lanes[i]) | (lanes[i] >= best[i - 1])
        best[i] = np.where(replaced, lanes[i], best[i - 1])
        places[i] = np.where(replaced, i, places[i - 1])
    return np.moveaxis(best, 0, axis), np.moveaxis(places, 0, axis)


def scans_and_extrema(rng: np.random.Generator, rows: int, columns: int) -> Iterator[Result]:
    for dtype in _DTYPES:
        values = _matrix(rng, rows, columns, dtype)
        is_floating = np.issubdtype(dtype, np.floating)
        wide = np.float64 if is_floating else np.int64
        error = 1e-5 if dtype == np.float32 else 1e-10
        for dim in (0, 1):
            sums = np.cumsum(values.astype(wide), dim)
            yield f"cumsum {dim}", torch.tensor(values).cumsum(dim), sums, error
            near_one = 1 + values.astype(wide) / 100 if is_floating else values.astype(wide)
            products = np.cumprod(near_one.astype(values.dtype if is_floating else wide).astype(wide), dim)
            given = torch.tensor(near_one.astype(values.dtype) if is_floating else values)
            yield f"cumprod {dim}", given.cumprod(dim), products, 100 * error

            marked = _with_specials(rng, values) if is_floating else values
            tensor = torch.tensor(marked)
            yield f"argmax {dim}", tensor.argmax(dim), np.argmax(marked, dim), 0
            yield f"argmin {dim}", tensor.argmin(dim), np.argmin(marked, dim), 0
            yield f"max {dim}", tensor.max(dim).values, np.max(marked, dim), 0
            best, places = _running_extremum(marked, dim)
            yield f"cummax {dim}", tensor.cummax(dim).values, best, 0
            yield f"places of cummax {dim}", tensor.cummax(dim).indices, places, 0


def normalisations(rng: np.random.Generator, rows: int, columns: int) -> Iterator[Result]:
    for dtype, error in ((np.float32, 1e-5), (np.float64, 1e-11)):
        values = _matrix(rng, rows, columns, dtype) * 3
        tensor, wide = torch.tensor(values), values.astype(np.float64)
        for dim in (0, 1):
            powers = np.exp(wide - wide.max(dim, keepdims=True))
            shares = powers / powers.sum(dim, keepdims=True)
            yield f"softmax {dim}", torch.softmax(tensor, dim), shares, error
            yield f"log_softmax {dim}", torch.log_softmax(tensor, dim), np.log(shares), error
            largest = np.log(powers.sum(dim)) + wide.max(dim)
            yield f"logsumexp {dim}", torch.logsumexp(tensor, dim), largest, error

        yield "sum", tensor.sum(1), wide.sum(1), 100 * error
        yield "amax", tensor.amax(1), wide.max(1), 0
        normal = (wide - wide.mean(1, keepdims=True)) / np.sqrt(wide.var(1, keepdims=True) + 1e-5)
        if columns > 1:
            yield "layer_norm", torch.nn.functional.layer_norm(tensor, (columns,)), normal, 10 * error


def indexing(rng: np.random.Generator, rows: int, columns: int) -> Iterator[Result]:
    values = rng.permutation(rows * columns).reshape(rows, columns).astype(np.float32)
    tensor = torch.tensor(values)
    for k in {1, min(10, columns), columns // 8 or 1}:
        order = np.argsort(-values, 1)[:, :k]
        yield f"topk {k}", torch.topk(tensor, k).indices, order, 0

    places = rng.integers(0, columns, (rows, 7))
    yield "gather", tensor.gather(1, torch.tensor(places)), np.take_along_axis(values, places, 1), 0
    chosen = rng.integers(0, rows, 9)
    yield "index_select", tensor.index_select(0, torch.tensor(chosen)), values[chosen], 0

    sequence, wanted = np.sort(rng.integers(0, 50, columns)), rng.integers(-2, 53, 41)
    for side in ("left", "right"):
        found = torch.searchsorted(torch.tensor(sequence), torch.tensor(wanted), side=side)
        yield f"searchsorted {side}", found, np.searchsorted(sequence, wanted, side), 0


def bags(rng: np.random.Generator, rows: int, columns: int) -> Iterator[Result]:
    table = _matrix(rng, rows, columns, np.float32)
    index, starts = rng.integers(0, rows, 40), [0, 0, 9, 30]
    bounds = [*starts, 40]
    sums = [table[index[a:b]].sum(0) for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    given = torch.tensor(index), torch.tensor(table), torch.tensor(starts)
    bag = torch.nn.functional.embedding_bag
    yield "embedding_bag", bag(*given, mode="sum"), np.array(sums), 1e-5

    # While a gradient is recorded, bags are composed of other operators.
    for mode in ("sum", "mean"):
        composed = bag(given[0], given[1].clone().requires_grad_(), given[2], mode=mode)
        yield f"embedding_bag {mode}", bag(*given, mode=mode), composed.detach().numpy(), 1e-5


def grids(rng: np.random.Generator, channels: int) -> Iterator[Result]:
    sample = torch.nn.functional.grid_sample
    image = torch.tensor(_matrix(rng, 2 * channels, 7 * 9, np.float32).reshape(2, channels, 7, 9))
    grid = torch.tensor(rng.uniform(-1.3, 1.3, (2, 13, 6, 2)).astype(np.float32))
    grid[0, 0, 0, 0] = float("nan")
    for mode in ("bilinear", "nearest", "bicubic"):
        for outside in ("zeros", "border", "reflection"):
            together = sample(image, grid, mode, outside, align_corners=False)
            alone = [
                sample(image[:, c : c + 1].contiguous(), grid, mode, outside, align_corners=False)
                for c in range(channels)
            ]
            yield f"grid_sample {mode} {outside}", together, torch.cat(alone, 1).numpy(), 1e-5


def results(seed: int) -> Iterator[Result]:
    rng = np.random.default_rng(seed)
    for length in _LENGTHS:
        for other in (3, 9) if length > 300 else (1, 4, 7, 33):
            for rows, columns in ((other, length), (length, other)):
                for group in (scans_and_extrema, normalisations, indexing, bags):
                    for what, found, expected, error in group(rng, rows, columns):
                        yield f"{what} of {rows} x {columns}", found, expected, error
    for channels in (1, 7, 8, 16, 37):
        for what, found, expected, error in grids(rng, channels):
            yield f"{what} of {channels} channels", found, expected, error


def main(seed: int, report: Callable[[str], None]) -> None:
    digest = hashlib.sha256()
    for what, found, expected, error in results(seed):
        array = found.numpy()
        digest.update(array.tobytes())
        if not np.allclose(array, expected, rtol=error, atol=error, equal_nan=True):
            return report(f"{what}, {array.dtype}: {array} is not {expected}")
    report(digest.hexdigest())


if __name__ == "__main__":
    main(int(sys.argv[1]), print)
