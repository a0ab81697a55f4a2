"""Reductions, scans, sorting and sets beyond the samples: precision, ties, gradients at awkward points."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.subject import only_torch_py, torch

_MANY = 10_000_000


# Precision: sums are pairwise, reduced precision accumulates in float32.


def test_sum_of_ten_million_ones(torch: Any) -> None:
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        ones = torch.ones(_MANY, dtype=dtype)
        assert ones.sum(dtype=torch.float32).item() == _MANY
        assert ones.mean().item() == 1
        assert ones.reshape(-1, 100).sum(0, dtype=torch.float32).tolist() == [_MANY / 100] * 100
        assert ones.reshape(100, -1).mean(1).tolist() == [1] * 100


def test_sum_error_grows_with_the_logarithm(torch: Any) -> None:
    values = np.random.default_rng(3).random(4_000_000).astype(np.float32)
    exact = float(np.sum(values.astype(np.float64)))
    tensor = torch.from_numpy(values)
    assert abs(tensor.sum().item() / exact - 1) < 3e-7
    assert abs(tensor.reshape(-1, 8).sum(0).double().sum().item() / exact - 1) < 3e-7
    assert abs(tensor.nansum().item() / exact - 1) < 3e-7


def test_moments_of_reduced_precision(torch: Any) -> None:
    values = np.random.default_rng(3).normal(3, 0.5, 100_000).astype(np.float32)
    for dtype, tolerance in ((torch.float16, 1e-3), (torch.bfloat16, 8e-3)):
        tensor = torch.from_numpy(values).to(dtype)
        exact = tensor.to(torch.float64).numpy()
        assert tensor.mean().item() == pytest.approx(exact.mean(), rel=tolerance)
        assert tensor.var().item() == pytest.approx(exact.var(ddof=1), rel=tolerance)
        assert tensor.std(correction=0).item() == pytest.approx(exact.std(), rel=tolerance)
        assert tensor.norm().item() == pytest.approx(np.sqrt((exact**2).sum()), rel=tolerance)


_REDUCTIONS_OF = {
    "float32": ["sum", "mean", "prod", "amax", "amin", "any", "all", "nansum"],
    "bfloat16": ["sum", "mean", "prod", "amax", "amin", "any", "all", "nansum"],
    "complex64": ["sum", "mean", "prod", "any", "all"],
    "int32": ["sum", "prod", "amax", "amin", "any", "all", "nansum"],
}


@pytest.mark.parametrize(
    "dtype, name", [(dtype, name) for dtype in _REDUCTIONS_OF for name in _REDUCTIONS_OF[dtype]]
)
def test_dimensions_of_size_one(torch: Any, dtype: str, name: str) -> None:
    """Single elements are their own sums, in every layout."""
    reduce = getattr(torch, name)
    dense = torch.randn(3, 1, 70, 5).to(getattr(torch, dtype))
    for x in (dense, dense.transpose(0, 2), dense[:, :, ::2], dense[..., 2:3].transpose(1, 3)):
        expected = x.squeeze(1) != 0 if name in ("any", "all") else x.squeeze(1)
        found = reduce(x, 1)
        assert found.shape == expected.shape
        assert (found == expected).all()
        assert (reduce(x, 1, keepdim=True) == expected.unsqueeze(1)).all()


def test_running_sums_of_reduced_precision(torch: Any) -> None:
    tensor = torch.ones(2048, dtype=torch.bfloat16).cumsum(0)
    assert tensor[-1].item() == 2048
    tensor = torch.full((60_000,), 0.001, dtype=torch.float32).cumsum(0)
    assert tensor[-1].item() == pytest.approx(60, rel=1e-6)


def test_variance_of_large_numbers(torch: Any) -> None:
    """The mean is subtracted before squaring."""
    tensor = torch.tensor([1e4, 1e4 + 1, 1e4 + 2] * 1000)
    assert tensor.var(correction=0).item() == pytest.approx(2 / 3, rel=1e-4)
    assert tensor.var(unbiased=False).item() == pytest.approx(2 / 3, rel=1e-4)


# any and all stop early, and are right wherever the deciding element lies


@pytest.mark.parametrize("place", [0, 1, 1023, 1024, 70_000, 199_999])
def test_one_element_decides(torch: Any, place: int) -> None:
    flags = torch.zeros(200_000, dtype=torch.bool)
    assert not flags.any() and (~flags).all()
    flags[place] = True
    assert flags.any() and not (~flags).all() and not flags.all()
    numbers = flags.to(torch.float32)
    assert numbers[::1].any() and not (1 - numbers).all()
    rows = numbers.reshape(2, 50, 2000)
    expected = np.asarray(rows).any(axis=(1, 2))
    assert rows.any((1, 2)).tolist() == expected.tolist()
    assert rows.any(2).sum().item() == 1 and rows.any(0).sum().item() == 1
    assert rows.transpose(0, 2).any((0, 1)).tolist() == expected.tolist()


def test_nan_is_true(torch: Any) -> None:
    assert torch.tensor([0.0, float("nan")]).any() and torch.tensor([1.0, float("nan")]).all()


# unique


def test_unique_returns_what_is_asked_for(torch: Any) -> None:
    tensor = torch.tensor([[3, 1], [3, 1], [2, 5]])
    assert tensor.unique().tolist() == [1, 2, 3, 5]
    values, inverse, counts = torch.unique(tensor, return_inverse=True, return_counts=True)
    assert values[inverse].equal(tensor) and counts.tolist() == [2, 1, 2, 1]
    values, counts = tensor.unique(dim=0, return_counts=True)
    assert values.tolist() == [[2, 5], [3, 1]] and counts.tolist() == [1, 2]
    values, inverse = torch.unique(tensor, dim=1, return_inverse=True)
    assert values.index_select(1, inverse).equal(tensor)
    assert isinstance(torch.unique(tensor, dim=0), torch.Tensor)
    assert sorted(torch.unique(tensor, sorted=False).tolist()) == [1, 2, 3, 5]


def test_unique_consecutive_returns_what_is_asked_for(torch: Any) -> None:
    tensor = torch.tensor([1, 1, 2, 1, 1, 1])
    assert torch.unique_consecutive(tensor).tolist() == [1, 2, 1]
    values, counts = tensor.unique_consecutive(return_counts=True)
    assert values.tolist() == [1, 2, 1] and counts.tolist() == [2, 1, 3]
    values, inverse, counts = torch.unique_consecutive(
        torch.tensor([[1, 2], [1, 2], [0, 0]]), True, True, dim=0
    )
    assert values.tolist() == [[1, 2], [0, 0]] and inverse.tolist() == [0, 0, 1] and counts.tolist() == [2, 1]


# Gradients


def test_equal_elements_share_the_gradient_of_a_median(torch: Any) -> None:
    tensor = torch.tensor([2.0, 1.0, 1.0, 3.0, 1.0], requires_grad=True)
    tensor.median().backward()
    assert tensor.grad.tolist() == pytest.approx([0, 1 / 3, 1 / 3, 0, 1 / 3])
    tensor = torch.tensor([2.0, float("nan"), 1.0, float("nan")], requires_grad=True)
    tensor.median().backward()
    assert tensor.grad.tolist() == [0, 0.5, 0, 0.5]


@pytest.mark.parametrize("zeros", [[], [1], [0, 2], [0, 1, 3]])
@pytest.mark.parametrize("name", ["prod", "prod_dim", "cumprod"])
def test_derivatives_of_products_with_zeros(torch: Any, name: str, zeros: list[int]) -> None:
    values = torch.tensor([1.5, -0.5, 2.0, 0.7], dtype=torch.float64)
    for place in zeros:
        values[place] = 0
    values = values.requires_grad_()
    functions = {
        "prod": lambda x: x.prod(),
        "prod_dim": lambda x: x.reshape(2, 2).prod(1),
        "cumprod": lambda x: x.cumprod(0),
    }
    assert torch.autograd.gradcheck(functions[name], (values,))
    assert torch.autograd.gradgradcheck(functions[name], (values,))


def test_running_log_sum_exp_of_one_output(torch: Any) -> None:
    """A gradient that is zero except in one place, differentiated again."""
    values = torch.tensor([0.3, -1.0, 2.0, 0.5], dtype=torch.float64, requires_grad=True)
    (first,) = torch.autograd.grad(values.logcumsumexp(0)[2], values, create_graph=True)
    expected = torch.softmax(values.detach()[:3], 0)
    assert first.tolist() == pytest.approx([*expected.tolist(), 0])
    assert torch.autograd.gradgradcheck(lambda x: x.logcumsumexp(0)[1:3], (values,))


def test_quantile_is_differentiable_in_q(torch: Any) -> None:
    values = torch.tensor([1.0, 3.0, 7.0], dtype=torch.float64)
    q = torch.tensor([0.25, 0.6], dtype=torch.float64, requires_grad=True)
    torch.quantile(values, q).sum().backward()
    assert q.grad.tolist() == pytest.approx([4.0, 8.0])


# out=


def test_out_of_extrema_and_moments(torch: Any) -> None:
    tensor = torch.tensor([[1.0, 5.0], [4.0, 2.0]])
    out = torch.empty(())
    assert torch.max(tensor, out=out) is out and out.item() == 5
    assert torch.min(tensor, out=out).item() == 1

    out = torch.empty(2)
    torch.var(tensor, 1, out=out)
    assert out.tolist() == [8, 2]
    torch.std(tensor, dim=0, correction=0, out=out)
    assert out.tolist() == [1.5, 1.5]
    torch.logsumexp(torch.zeros(2, 3), 1, out=out)
    assert out.tolist() == pytest.approx([np.log(3)] * 2)

    values, indices = torch.empty(2), torch.empty(2, dtype=torch.int64)
    found = torch.median(tensor, 1, out=(values, indices))
    assert found.values is values and values.tolist() == [1, 2] and indices.tolist() == [0, 1]


def test_named_results(torch: Any) -> None:
    tensor = torch.tensor([[1.0, 5.0], [4.0, 2.0]])
    assert tensor.mode(1).indices.shape == (2,)
    assert torch.aminmax(tensor, dim=0).max.tolist() == [4, 5]
    assert tensor.kthvalue(2).values.tolist() == [5, 4]
    assert torch.cummax(tensor, 1).indices.tolist() == [[0, 1], [0, 0]]
    assert torch.histogram(tensor, 2).bin_edges.tolist() == [1, 3, 5]
    hist, edges = torch.histogramdd(tensor, bins=[2, 2])
    assert hist.sum().item() == 2 and isinstance(edges, (tuple, list)) and len(edges) == 2


def test_gradient_returns_one_tensor_for_each_dimension(torch: Any) -> None:
    tensor = torch.tensor([[1.0, 4.0, 9.0], [2.0, 6.0, 8.0]])
    rows, columns = torch.gradient(tensor)
    assert rows.tolist() == [[1, 2, -1]] * 2 and columns.tolist() == [[3, 4, 5], [4, 3, 2]]
    (only,) = torch.gradient(tensor, spacing=0.5, dim=1)
    assert only.tolist() == [[6, 8, 10], [8, 6, 4]]


# Threads


@only_torch_py
def test_sums_of_channels_do_not_depend_on_neighbours_or_threads(torch: Any) -> None:
    torch.manual_seed(0)
    threads = torch.get_num_threads()

    for images in (torch.randn(9, 21, 28, 28), torch.randn(5, 17, 7, 9), torch.randn(3, 40, 70, 66)[..., 1:]):
        alone = [images[:, channel].sum() for channel in range(images.shape[1])]
        torch.set_num_threads(1)
        one = images.sum((0, 2, 3))
        torch.set_num_threads(3)
        several = images.sum((0, 2, 3))
        torch.set_num_threads(threads)

        assert one.equal(several)
        assert one.equal(torch.stack(alone))
        assert one.double().allclose(images.double().sum((0, 2, 3)), rtol=1e-5, atol=1e-3)


@only_torch_py
def test_weighted_counts_do_not_depend_on_threads(torch: Any) -> None:
    torch.manual_seed(0)
    numbers = torch.randint(0, 50, (300_000,))
    weights = torch.rand(300_000)
    threads = torch.get_num_threads()
    found = []

    for count in (1, 2, 3):
        torch.set_num_threads(count)
        found.append(
            (
                numbers.bincount(weights),
                torch.histc(weights, 20),
                torch.histogram(weights, 9, weight=weights).hist,
            )
        )

    torch.set_num_threads(threads)
    for other in found[1:]:
        assert all(a.equal(b) for a, b in zip(found[0], other))


def test_out_of_range_numbers_are_not_counted(torch: Any) -> None:
    values = torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0, float("nan"), float("inf")])
    assert torch.histc(values, 2, 0, 1).tolist() == [1, 2]
    assert torch.histogram(values, torch.tensor([0.0, 0.5, 1.0])).hist.tolist() == [1, 2]


# Norms


def test_norms_over_several_dimensions(torch: Any) -> None:
    tensor = torch.arange(24.0).reshape(2, 3, 4) - 11
    array = np.asarray(tensor)
    for p in (1, 2, 3, 0, float("inf"), -float("inf")):
        expected = [np.linalg.norm(array[:, index].reshape(-1), p) for index in range(3)]
        assert tensor.norm(p, (0, 2)).tolist() == pytest.approx(expected, rel=1e-5)
        assert tensor.norm(p, dim=(0, 2), keepdim=True).shape == (1, 3, 1)
    assert tensor.norm().item() == pytest.approx(np.linalg.norm(array.reshape(-1)), rel=1e-6)
    assert tensor.norm(dtype=torch.float64).dtype == torch.float64


def test_norms_of_empty_tensors(torch: Any) -> None:
    assert torch.empty(0, 3).norm(2, (0, 1)).item() == 0
    assert torch.empty(0, 3).norm(1, 0).tolist() == [0, 0, 0]
    assert torch.empty(0, 3).norm(float("inf"), 1).shape == (0,)
    for dims in (0, (0, 1)):
        with pytest.raises(RuntimeError, match="identity"):
            torch.empty(0, 3).norm(float("inf"), dims)


# Sorting of lanes


@pytest.mark.parametrize("size", [1, 2, 3, 8, 15, 16, 17])
@pytest.mark.parametrize("descending", [False, True])
def test_short_lanes_are_sorted_stably(torch: Any, size: int, descending: bool) -> None:
    rng = np.random.default_rng(0)
    floats = rng.integers(-2, 3, (50, size)).astype(np.float32)
    floats[rng.random(floats.shape) < 0.1] = np.nan
    for array in (floats, floats.T.copy().T, np.nan_to_num(floats).astype(np.int64)):
        # NaN is the largest number.
        keys = np.where(np.isnan(array), 9, array).astype(np.float64)
        expected = np.argsort(-keys if descending else keys, axis=1, kind="stable")
        values, indices = torch.sort(torch.from_numpy(array), dim=1, descending=descending, stable=True)
        np.testing.assert_array_equal(indices.numpy(), expected)
        np.testing.assert_array_equal(values.numpy(), np.take_along_axis(array, expected, 1))

        first = torch.topk(torch.from_numpy(array), (size + 1) // 2, 1, largest=descending)
        chosen = values[:, : (size + 1) // 2]
        np.testing.assert_array_equal(first.values.numpy(), chosen.numpy())
        taken = np.take_along_axis(array, first.indices.numpy(), 1)
        np.testing.assert_array_equal(taken, chosen.numpy())


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]
)
@pytest.mark.parametrize("descending", [False, True])
def test_long_lanes_are_sorted_stably(torch: Any, dtype: str, descending: bool) -> None:
    numbers = np.random.default_rng(0).integers(-200, 200, (2, 3001))
    array = numbers.astype(np.uint8 if dtype == "uint8" else np.int64).astype(dtype)
    if dtype.startswith("float"):
        array[0, ::100] = np.nan
        array[1, ::77] = -np.inf
        array[1, 5::90] = -0.0
    found = torch.sort(torch.from_numpy(array), stable=True, dim=1, descending=descending)
    # NumPy sorts ascending; the reversed order of the reversed lane is stable, too.
    order = np.argsort(array, axis=1, kind="stable")
    if descending:
        order = array.shape[1] - 1 - np.argsort(array[:, ::-1], axis=1, kind="stable")[:, ::-1]
    assert np.array_equal(np.asarray(found.indices), order)
    assert np.array_equal(
        np.asarray(found.values), np.take_along_axis(array, order, 1), equal_nan=dtype.startswith("float")
    )


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("size", [16, 17, 32, 1000, 4096])
def test_ties_are_left_in_the_order_of_pytorch(torch: Any, size: int, descending: bool) -> None:
    """The order of equal lengths in a packed batch decides which part of a dropout mask a sequence gets."""
    peer = pytest.importorskip("torch")
    lengths = np.random.default_rng(size).integers(0, 9, (3, size))
    for array in (lengths, lengths.astype(np.float32), lengths.astype(np.uint8), lengths % 2 == 0):
        for dim, lanes in ((1, array), (0, array.T.copy())):
            found = torch.sort(torch.from_numpy(lanes), dim=dim, descending=descending)
            expected = peer.sort(peer.from_numpy(lanes), dim=dim, descending=descending)
            assert np.array_equal(np.asarray(found.indices), np.asarray(expected.indices))
            assert np.array_equal(np.asarray(found.values), np.asarray(expected.values))


@pytest.mark.parametrize("k", [1, 5, 600, 2999])
def test_first_elements_of_long_lanes(torch: Any, k: int) -> None:
    tensor = torch.from_numpy(np.random.default_rng(1).permutation(3000).astype(np.float32))
    assert torch.topk(tensor, k).values.tolist() == list(range(2999, 2999 - k, -1))
    values, indices = tensor.topk(k, largest=False)
    assert values.tolist() == list(range(k)) and tensor[indices].equal(values)


def test_cumulative_integral_without_elements() -> None:
    nothing = torch.zeros(0, 4, dtype=torch.int64)
    assert (
        torch.cumulative_trapezoid(nothing, dim=0).dtype
        == torch.cumulative_trapezoid(nothing, nothing[:, 0], dim=0).dtype
        == torch.float32
    )


def test_gradient_of_booleans_is_refused() -> None:
    with pytest.raises(RuntimeError, match="bool"):
        torch.gradient(torch.ones(4, dtype=torch.bool), spacing=[torch.arange(4.0)])


@only_torch_py  # PyTorch sorts NaN with a comparison that is not an order, and finds it where it comes first
def test_mode_is_nan_only_if_all_elements_are() -> None:
    assert torch.mode(torch.tensor([math.nan, math.nan, 1.0])).values.item() == 1
    value, index = torch.mode(torch.tensor([math.nan, 2.0, math.nan, 2.0]))
    assert (value.item(), index.item()) == (2, 3)
    assert math.isnan(torch.mode(torch.tensor([math.nan, math.nan])).values.item())
