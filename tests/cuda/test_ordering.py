"""Scans, sorts and what is made of them on CUDA: long lanes, layouts, NaN, and equal bits twice.

`test_operators.py` compares all operators on small samples; these cases need more elements than those.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.subject import WITH_PEER, torch

pytestmark = [
    pytest.mark.skipif(WITH_PEER, reason="compares our devices"),
    pytest.mark.skipif("TORCH_PY_CUDA_LIBRARY" not in os.environ, reason="make test-cuda runs these"),
]

ON_DEVICE = {
    "cumsum",
    "cumprod",
    "cummax",
    "cummin",
    "logcumsumexp",
    "_logcumsumexp_backward",
    "_logcumsumexp_forward",
    "_linear_recurrence",
    "sort.stable",
    "topk",
    "median.dim",
    "nanmedian.dim",
    "kthvalue",
    "mode",
    "_unique2",
    "unique_dim",
    "unique_consecutive",
}
# Around the limits of tiles and pieces: see aten/native/cuda/Scan.cuh.
LENGTHS = [1, 31, 33, 1023, 1025, 5000, 40_000]


@pytest.fixture(autouse=True)
def on_the_device() -> Iterator[None]:
    """Every operator of a test has a kernel of its own."""
    torch.manual_seed(0)
    torch.cuda.reset_host_fallbacks()
    yield
    copied = set(torch.cuda.host_fallbacks()) & ON_DEVICE
    assert not copied, f"ran on the host: {copied}"


def assert_equal(ours: Any, theirs: Any) -> None:
    for mine, other in zip(ours, theirs, strict=True):
        mine = mine.cpu()
        assert mine.dtype == other.dtype and mine.shape == other.shape
        same = (mine == other) | ((mine != mine) & (other != other))
        assert same.all(), f"{int((~same).sum())} of {same.numel()} elements differ"


def integers(*sizes: int, high: int = 1000, dtype: Any = None) -> Any:
    return torch.randint(-high, high, sizes).to(dtype or torch.float32)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("rows", [1, 3])
def test_running_sums_of_long_lanes(length: int, rows: int):
    x = integers(rows, length)
    ours = x.cuda()
    assert_equal([ours.cumsum(1)], [x.cumsum(1)])
    assert_equal([ours.long().cumsum(1)], [x.long().cumsum(1)])
    assert_equal(ours.cummax(1), x.cummax(1))
    assert_equal(ours.cummin(1), x.cummin(1))


def test_running_sums_of_several_groups_of_tiles():
    x = integers(2, 140_003)
    ours = x.cuda()
    for column in (0, 1, 4):
        assert_equal([ours[:, column:].cumsum(1)], [x[:, column:].cumsum(1)])
    assert_equal([ours.double().t().cumsum(0)], [x.double().t().cumsum(0)])
    ones = torch.ones(2, 200, dtype=torch.bfloat16)
    assert_equal([ones.cuda().cumsum(1)], [ones.cumsum(1)])


def test_running_results_of_other_layouts():
    x = integers(40, 70, 5)
    for dim in range(3):
        assert_equal([x.cuda().cumsum(dim)], [x.cumsum(dim)])
        assert_equal(x.cuda().transpose(0, 1).cummax(dim), x.transpose(0, 1).cummax(dim))
    assert_equal([x.cuda()[::2, :, ::3].cumsum(1)], [x[::2, :, ::3].cumsum(1)])

    many = integers(80, 5000)  # a thread per lane
    assert_equal([many.cuda().cumsum(0)], [many.cumsum(0)])


def test_running_sums_have_the_same_bits_twice():
    x = torch.randn(100_000, device="cuda")
    first = x.cumsum(0)
    assert torch.equal(first, x.cumsum(0))
    torch.testing.assert_close(first.cpu(), x.cpu().cumsum(0), rtol=1e-6, atol=1e-5)


def test_running_sums_do_not_depend_on_the_number_of_lanes():
    # A lane of several groups of tiles, which blocks share, and the same lane in a block of its own.
    x = torch.randn(34_000, device="cuda")
    others = torch.zeros(1, 1, device="cuda").expand(511, 34_000)
    many = torch.cat([x[None], others])
    assert torch.equal(many.cumsum(1)[0], x.cumsum(0))


@pytest.mark.parametrize("length", LENGTHS[:-1])
def test_running_log_sums(length: int):
    x = torch.randn(3, length, dtype=torch.float64) * 20
    x[1, ::7] = float("-inf")
    x[2, length // 2] = float("nan")
    grad = torch.randn(3, length, dtype=torch.float64)

    found = []
    for device in ("cuda", "cpu"):
        given = x.detach().to(device).requires_grad_()
        result = given.logcumsumexp(1)
        (gradient,) = torch.autograd.grad(result, given, grad.to(device))
        found.append((result.detach().cpu(), gradient.cpu()))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-11, equal_nan=True)


def test_running_extrema_keep_nan():
    x = integers(3, 3000)
    x[1, 700] = float("nan")
    x[1, 1900] = float("nan")
    assert_equal(x.cuda().cummax(1), x.cummax(1))
    assert_equal(x.cuda().cummin(1), x.cummin(1))


DTYPES = [
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.bool,
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable(dtype: Any, descending: bool):
    x = integers(5, 700, high=100, dtype=dtype)
    for dim in (0, 1):
        ours = torch.sort(x.cuda(), stable=True, dim=dim, descending=descending)
        assert_equal(ours, torch.sort(x, stable=True, dim=dim, descending=descending))


def test_sort_of_special_numbers():
    x = torch.tensor([0.0, float("nan"), -0.0, float("inf"), -1.0, float("-inf"), float("nan"), 0.0])
    for dtype in (torch.float32, torch.float64, torch.float16):
        for descending in (False, True):
            # Short lanes, and those that are sorted by their keys.
            for values in (x.to(dtype), x.to(dtype).repeat(20)):
                ours = torch.sort(values.cuda(), stable=True, descending=descending)
                expected = torch.sort(values, stable=True, descending=descending)
                assert_equal(ours, expected)
                assert torch.equal(ours[0].cpu().signbit(), expected[0].signbit())


@pytest.mark.parametrize("dtype", [torch.int64, torch.float32, torch.float16], ids=str)
def test_topk_and_ranks(dtype: Any):
    x = integers(7, 900, high=50, dtype=dtype)
    for largest in (False, True):
        assert_equal(x.cuda().topk(31, largest=largest), x.topk(31, largest=largest))
    assert_equal(x.cuda().kthvalue(400), x.kthvalue(400))
    assert_equal(x.cuda().median(1), x.median(1))
    assert_equal(x.cuda().mode(0), x.mode(0))


# Whole lanes, counted lanes, and lanes of several blocks: see aten/native/cuda/Select.cu.
@pytest.mark.parametrize("rows, length", [(9, 40), (3, 65), (5, 3000), (2, 20_000)])
@pytest.mark.parametrize("high", [2, 30_000])
def test_selections_choose_as_a_stable_sort(rows: int, length: int, high: int):
    x = integers(rows, length, high=high)
    x[1, 5::17] = float("nan")
    for k in (1, length // 5, 60, length // 2 - 1, length):
        for largest in (False, True):
            ours = x.cuda().topk(min(k, length), largest=largest)
            order = torch.sort(x, stable=True, descending=largest)
            assert_equal(ours, [result[:, :k] for result in order])
        order = torch.sort(x, stable=True)
        assert_equal(x.cuda().kthvalue(min(k, length)), [result[:, min(k, length) - 1] for result in order])


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
def test_selections_of_every_dtype(dtype: Any):
    x = integers(2, 10_000, high=100, dtype=dtype)
    if dtype.is_floating_point:
        x[0, 3] = -0.0
        x[1, 4:9] = torch.tensor([float("inf"), float("-inf"), 0.0, -0.0, 1e-6]).to(dtype)
    for ours in (x.cuda(), x.cuda().t().contiguous().t()):
        for largest in (False, True):
            order = torch.sort(x, stable=True, descending=largest)
            assert_equal(ours.topk(70, largest=largest), [result[:, :70] for result in order])
        order = torch.sort(x, stable=True)
        assert_equal(ours.kthvalue(9_000), [result[:, 8_999] for result in order])
        assert_equal(ours.median(1), [result[:, 4_999] for result in order])


def test_medians_of_long_lanes_with_nan():
    x = integers(3, 9_000)
    x[1, ::3] = float("nan")
    x[2] = float("nan")
    assert_equal(x.cuda().median(1), x.median(1))
    assert_equal(x.cuda().nanmedian(1), x.nanmedian(1))


def test_medians_with_nan():
    x = integers(6, 99)
    x[1, ::3] = float("nan")
    x[2] = float("nan")
    assert_equal(x.cuda().median(1), x.median(1))
    assert_equal(x.cuda().nanmedian(1), x.nanmedian(1))


@pytest.mark.parametrize("high", [3, 100_000])
def test_unique(high: int):
    x = integers(60, 50, high=high)
    x[3, 4:7] = float("nan")
    options = {"return_inverse": True, "return_counts": True}
    assert_equal(torch.unique(x.cuda(), **options), torch.unique(x, **options))
    assert_equal(torch.unique_consecutive(x.cuda(), **options), torch.unique_consecutive(x, **options))

    rows = integers(200, 4, high=2)
    for dim in (0, 1):
        assert_equal(torch.unique(rows.cuda(), dim=dim, **options), torch.unique(rows, dim=dim, **options))


def test_empty_tensors():
    x = torch.zeros(0, 3, device="cuda")
    assert x.cumsum(0).shape == (0, 3)
    assert torch.sort(x, 0).indices.shape == (0, 3)
    assert torch.unique(x).shape == (0,)
    assert torch.tensor(3.0, device="cuda").cumsum(0).item() == 3
