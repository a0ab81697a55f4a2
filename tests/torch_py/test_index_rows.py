"""Whole rows in index_add, gather and scatter_add, and scans of many lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.subject import torch

_DTYPES = ["bool", "uint8", "int32", "int64", "float32", "float64", "complex64", "complex128"]
_THREADS = [1, 3]


@pytest.fixture(autouse=True, params=_THREADS)
def threads(request: Any):
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield
    torch.set_num_threads(before)


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Integers, so that sums are exact in every order."""
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(dtype)


def transposed(array: Any) -> Any:
    return np.ascontiguousarray(array.T).T


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("shape", [(7, 70), (40, 1), (5, 3, 130), (300, 257)])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, transposed])
def test_index_add(dtype: str, shape: tuple[int, ...], layout: Any):
    index = np.random.default_rng(1).integers(0, shape[0], 90)
    start = layout(numbers(shape, dtype))
    rows = layout(numbers((90, *shape[1:]), dtype, 2))

    expected = start.copy()
    np.add.at(expected, index, rows)
    result = torch.from_numpy(start).index_add(0, torch.from_numpy(index), torch.from_numpy(rows))
    assert np.array_equal(result.numpy(), expected)


def test_index_add_scales_rows():
    start = torch.zeros(4, 100)
    rows = torch.ones(3, 100)
    result = start.index_add(0, torch.tensor([1, 1, 3]), rows, alpha=2.5)
    assert result[:, 99].tolist() == [0, 5, 0, 2.5]
    assert result[:, 0].tolist() == [0, 5, 0, 2.5]


@pytest.mark.parametrize("dtype", _DTYPES)
@pytest.mark.parametrize("shape", [(7, 70), (5, 3, 130), (300, 257)])
def test_expanded_index(dtype: str, shape: tuple[int, ...]):
    chosen = np.random.default_rng(1).integers(0, shape[0], 90)
    index = torch.from_numpy(chosen).reshape(-1, *[1] * (len(shape) - 1)).expand(90, *shape[1:])
    start, rows = numbers(shape, dtype), numbers((95, *shape[1:]), dtype, 2)

    assert np.array_equal(torch.gather(torch.from_numpy(start), 0, index).numpy(), start[chosen])
    expected = start.copy()
    np.add.at(expected, chosen, rows[:90])
    result = torch.from_numpy(start).scatter_add(0, index, torch.from_numpy(rows))
    assert np.array_equal(result.numpy(), expected)


@pytest.mark.parametrize("where", [0, 50, 89])
@pytest.mark.parametrize("wrong", [-1, 7])
def test_expanded_index_out_of_range(where: int, wrong: int):
    chosen = torch.zeros(90, dtype=torch.int64)
    chosen[where] = wrong
    index = chosen.unsqueeze(1).expand(90, 70)
    table, rows = torch.zeros(7, 70), torch.ones(90, 70)

    with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds"):
        torch.gather(table, 0, index)
    with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds"):
        torch.scatter_add(table, 0, index, rows)
    with pytest.raises(RuntimeError, match=f"index {wrong} is out of bounds"):
        table.scatter_add_(0, index, rows)
    assert not table.any()


@pytest.mark.parametrize(
    "dtype", ["uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.parametrize("shape", [(33, 70), (200, 31), (2, 64, 65), (9, 300), (70, 5, 40)])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, transposed])
def test_scans(dtype: str, shape: tuple[int, ...], layout: Any):
    array = layout(numbers(shape, dtype) % 3 if dtype[:7] != "complex" else numbers(shape, dtype))
    tensor = torch.from_numpy(array)
    for dim in range(len(shape)):
        sums = torch.cumsum(tensor, dim)
        expected = np.cumsum(array, dim)
        assert np.array_equal(sums.numpy(), expected.astype(str(sums.dtype).split(".")[1]))

        # A lane alone is not transposed, and gives the same bits.
        scaled = tensor * 0.37 if dtype[:3] not in ("uin", "int") else tensor
        for scan in (torch.cumsum, torch.cumprod):
            together = scan(scaled, dim).movedim(dim, -1).reshape(-1, shape[dim])
            lanes = scaled.movedim(dim, -1).reshape(-1, shape[dim])
            for lane in (0, len(lanes) // 2, len(lanes) - 1):
                alone = scan(lanes[lane].clone(), 0)
                assert together[lane].tolist() == alone.tolist()


def test_scan_in_place():
    tensor = torch.arange(70 * 90.0).reshape(70, 90)
    for dim in (0, 1):
        expected = torch.cumsum(tensor, dim)
        assert tensor.clone().cumsum_(dim).tolist() == expected.tolist()
