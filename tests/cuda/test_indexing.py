"""Indexing on a device beyond the operators' samples: layouts, sizes, order of sums, ranges of indices."""

from __future__ import annotations

import pytest

from tests.subject import torch

DTYPES = [torch.uint8, torch.bfloat16, torch.float32, torch.float64, torch.complex128]


def same(function, *tensors):
    """Checks that a call gives the same bits on both devices, and on the device twice."""
    expected = function(*tensors)
    moved = [tensor.to("cuda") for tensor in tensors]
    found, again = function(*moved), function(*moved)
    assert found.device.type == "cuda" and found.dtype == expected.dtype
    assert torch.equal(found.cpu(), expected)
    assert torch.equal(found, again)


def numbers(*shape, dtype=torch.float32):
    torch.manual_seed(len(shape) + sum(shape))
    return (torch.randn(shape) * 10).to(torch.int64).remainder(100).to(dtype) / (
        1 if not dtype.is_floating_point else 8
    )


def places(count, high):
    torch.manual_seed(count + high)
    return torch.randint(0, high, (count,))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_of_every_element_size(dtype):
    for width in (1, 3, 4, 16, 33):
        table = numbers(50, width, dtype=dtype)
        index = places(40, 50)
        same(lambda t, i: t[i], table, index)
        same(lambda t, i: torch.index_select(t, 0, i), table, index)
        same(lambda t, i: t.t()[:, i], table, index)
        same(lambda t, i: t[i, i % t.shape[1]], table, index)
        same(lambda t, i: t[1:, :][i % 49], table, index)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_last_of_several_values_wins(dtype):
    table = numbers(7, 5, dtype=dtype)
    index = places(300, 7)
    values = numbers(300, 5, dtype=dtype)
    same(lambda t, i, v: t.clone().index_put_((i,), v), table, index, values)
    same(lambda t, i, v: t.t().clone().index_put_((slice_all(t), i), v.t()), table, index, values)
    same(lambda t, i, v: t.clone().index_put_((i, i % 5), v[:, 0]), table, index, values)
    same(lambda t, i, v: t.scatter(0, i.unsqueeze(1).expand(300, 5), v), table, index, values)


def slice_all(table):
    return torch.arange(5, device=table.device).unsqueeze(1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, *DTYPES])
def test_sums_are_in_the_order_of_the_indices(dtype):
    table = numbers(7, 5, dtype=dtype)
    index = places(2000, 7)
    values = numbers(2000, 5, dtype=dtype)
    same(lambda t, i, v: t.index_add(0, i, v), table, index, values)
    same(lambda t, i, v: t.index_add(0, i, v, alpha=3), table, index, values)
    same(lambda t, i, v: t.t().contiguous().index_add(1, i, v.t()), table, index, values)
    same(lambda t, i, v: t.clone().index_put_((i,), v, accumulate=True), table, index, values)
    same(lambda t, i, v: t.clone().index_put_((i - 7, i % 5), v[:, 1], accumulate=True), table, index, values)
    same(lambda t, i, v: t.scatter_add(0, i.unsqueeze(1).expand(2000, 5), v), table, index, values)


@pytest.mark.parametrize("count", [127, 128, 129, 257, 20_000])
@pytest.mark.parametrize("high", [1, 3, 900])
def test_sums_of_many_values_for_one_element(count, high):
    # Runs that begin, end and go on at the limits of windows: see Accumulate.cuh.
    index = torch.cat([places(count // 2, high), torch.zeros(count - count // 2, dtype=torch.long)])
    values = numbers(count, 3)
    same(lambda t, i, v: t.index_add(0, i, v), numbers(high, 3), index, values)
    same(lambda t, i, v: t.scatter_add(0, i, v), numbers(high), index, values[:, 0])
    same(lambda t, i, v: t.scatter_reduce(0, i, v, "amax"), numbers(high), index, values[:, 0])
    same(
        lambda t, i, v: t.clone().index_put_((i % 3, i), v[:, 1], accumulate=True),
        numbers(3, high),
        index,
        values,
    )


def test_sums_of_many_values_are_exact_to_the_accumulator():
    values = torch.full((40_000,), 2.0**-10, dtype=torch.bfloat16)
    index = torch.zeros(40_000, dtype=torch.long)
    table = torch.ones(2, dtype=torch.bfloat16, device="cuda")
    assert table.index_add(0, index.cuda(), values.cuda()).tolist() == [40.0, 1.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int32, torch.int64])
@pytest.mark.parametrize("kind", ["any", "sorted", "one"])
def test_scattered_sums_in_any_order(kind, dtype):
    index = {"any": places(5000, 40), "sorted": places(5000, 40).sort()[0], "one": places(5000, 1)}[kind]
    values = (torch.randn(2, 5000, dtype=torch.float64) * 1000).to(dtype)
    table = torch.full((2, 40), 7).to(dtype)
    for dim in (0, 1):
        cut = [t.t().contiguous() if dim == 0 else t for t in (table, index.expand(2, 5000), values)]
        expected = cut[0].double().scatter_add(dim, cut[1], cut[2].double())
        found = [t.cuda() for t in cut]
        for sums in (
            found[0].scatter_add(dim, *found[1:]),
            found[0].scatter_reduce(dim, *found[1:], "sum"),
        ):
            # Relative to the sum of 5000 magnitudes of about 1000.
            atol = 5e6 * (1e-7 if dtype == torch.float32 else 1e-15)
            torch.testing.assert_close(sums.cpu().double(), expected, rtol=0, atol=atol)


def test_scattered_sums_are_in_order_if_deterministic_algorithms_are_asked_for():
    torch.use_deterministic_algorithms(True)
    try:
        table, index = torch.ones(40, device="cuda"), places(3000, 40).cuda()
        values = torch.randn(3000, device="cuda")
        ordered = table.index_add(0, index, values)
        assert torch.equal(table.scatter_add(0, index, values), ordered)
        assert torch.equal(table.scatter_reduce(0, index, values, "sum"), ordered)
    finally:
        torch.use_deterministic_algorithms(False)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_reductions_of_scattered_values(reduce):
    index = places(500, 7).unsqueeze(1).expand(500, 5)
    values = numbers(500, 5) / 16
    values[3, 2] = float("nan")

    for include_self in (True, False):
        expected, found = (
            torch.scatter_reduce(
                numbers(7, 5).to(device),
                0,
                index.to(device),
                values.to(device),
                reduce,
                include_self=include_self,
            )
            for device in ("cpu", "cuda")
        )
        # Products are rounded in another order.
        rtol = 1e-5 if reduce == "prod" else 0
        torch.testing.assert_close(found.cpu(), expected, equal_nan=True, rtol=rtol, atol=0)


def test_sums_into_elements_that_share_memory():
    row = torch.zeros(1, 3)
    index = torch.tensor([0, 2, 2])
    for device in ("cpu", "cuda"):
        shared = row.to(device, copy=True).expand(4, 3)
        shared.index_put_((index.to(device),), torch.ones(3, 3, device=device), accumulate=True)
        assert shared[0].tolist() == [3.0, 3.0, 3.0]


def test_gradients_of_lookups_are_the_same_in_every_run():
    weight = torch.randn(20, 8)
    index = places(900, 20)
    gradients = []
    for device in ("cpu", "cuda", "cuda"):
        leaf = weight.clone().to(device).requires_grad_()
        torch.nn.functional.embedding(index.to(device), leaf).mul(0.37).sin().sum().backward()
        gradients.append(leaf.grad.cpu())
    torch.testing.assert_close(gradients[0], gradients[1])
    assert torch.equal(gradients[1], gradients[2])


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t, i: t[i], IndexError),
        (lambda t, i: torch.index_select(t, 0, i), IndexError),
        (lambda t, i: t.index_put_((i,), t[0].clone()), IndexError),
        (lambda t, i: t.index_put_((i,), torch.ones(3, 4, device="cuda")), IndexError),
        (lambda t, i: t.index_put_((i,), t[0].clone(), accumulate=True), IndexError),
        (lambda t, i: torch.gather(t, 0, i.unsqueeze(1)), RuntimeError),
        (lambda t, i: t.scatter_(0, i.unsqueeze(1), 2.0), RuntimeError),
        (lambda t, i: t.scatter_(0, i.unsqueeze(1), torch.ones(3, 1, device="cuda")), RuntimeError),
        (lambda t, i: t.scatter_add_(0, i.unsqueeze(1), torch.ones(3, 1, device="cuda")), RuntimeError),
        (lambda t, i: t.index_add_(0, i, torch.ones(3, 4, device="cuda")), RuntimeError),
    ],
)
@pytest.mark.parametrize("outside", [5, -6, 2**40])
def test_indices_out_of_range_are_reported_and_the_process_goes_on(call, error, outside):
    table = torch.zeros(5, 4, device="cuda")
    index = torch.tensor([0, outside, 1], device="cuda")
    with pytest.raises(error, match=rf"index {outside} is out of bounds for dimension 0 with size 5"):
        call(table, index)
        torch.cuda.synchronize()
    assert torch.ones(3, device="cuda").sum().item() == 3


@pytest.mark.parametrize("count", [0, 1, 31, 2048, 2049, 70_000])
def test_places_of_nonzero_elements_are_in_order(count):
    values = (numbers(count) > 5).to(torch.float32)
    same(torch.nonzero, values)
    if count % 2 == 0:
        same(torch.nonzero, values.reshape(2, -1).t())
    same(lambda v: v[v > 0], values)
    same(lambda v: (v > 0)[1:].nonzero(), values)
    same(lambda v: (v >= 0).nonzero(), values)
    same(lambda v: v.to(torch.complex128)[1:].nonzero(), values)


def test_joined_tensors_of_all_layouts():
    parts = [numbers(2, 3, width) for width in (1, 4, 0, 5)] + [numbers(2, 6, 3).transpose(1, 2)]
    same(lambda *t: torch.cat(t, 2), *parts)
    many = [numbers(1, 3) + k for k in range(300)]
    same(lambda *t: torch.cat(t), *many)
    images = [numbers(2, 3, 4, 4).contiguous(memory_format=torch.channels_last) for _ in range(2)]
    same(lambda *t: torch.cat(t, 1), *images)


def test_flips_rolls_and_triangles_of_strided_tensors():
    cube = numbers(4, 6, 8)
    for tensor in (cube, cube.transpose(0, 2), cube[:, ::2], cube[0]):
        last = tensor.dim() - 1
        same(lambda t, last=last: t.flip(0, last), tensor)
        same(lambda t: t.flip(1), tensor)
        same(lambda t, last=last: t.roll((1, -2, 5), (0, last, 0)), tensor)
        same(lambda t: t.roll(3), tensor)
        for diagonal in (-9, -1, 0, 2, 9):
            same(lambda t, d=diagonal: t.tril(d), tensor)
            same(lambda t, d=diagonal: t.triu(d), tensor)


def test_repeated_indices():
    counts = torch.tensor([3, 0, 1, 5, 0])
    for dtype in (torch.int64, torch.int32):
        same(torch.repeat_interleave, counts.to(dtype))
    same(lambda t, c: torch.repeat_interleave(t, c, 0), numbers(5, 3), counts)
    with pytest.raises(RuntimeError, match="negative"):
        torch.repeat_interleave(torch.tensor([2, -1], device="cuda"))


def test_these_operators_do_not_run_on_the_host():
    table = numbers(6, 4).to("cuda")
    index = places(9, 6).to("cuda")
    torch.cuda.reset_host_fallbacks()
    torch.cat([table, table]).flip(0).roll(2, 1).tril()
    table[index]
    table.index_add(0, index, table[index]).masked_fill(table > 1, 0.0)
    torch.where(table > 0, table, 0.0).scatter_add(0, index[:4].unsqueeze(0), table[:1])
    torch.arange(5, device="cuda")
    table.sum().item()
    assert torch.cuda.host_fallbacks() == {}


@pytest.mark.parametrize("classes", [1, 5, 32, 70])
def test_margin_labels_end_at_the_first_negative_one(classes):
    scores = numbers(6, classes) / 8
    target = torch.full((6, classes), -1)
    for row in range(6):
        count = min(row * 14, classes)
        target[row, :count] = torch.arange(count).flip(0)
        if row == 4 and classes > 2:
            target[row, 1] = -1  # labels behind it do not count
    expected = torch.nn.functional.multilabel_margin_loss(scores, target, reduction="none")

    torch.cuda.reset_host_fallbacks()
    found = torch.nn.functional.multilabel_margin_loss(scores.cuda(), target.cuda(), reduction="none")
    assert "_margin_labels" not in torch.cuda.host_fallbacks()
    torch.testing.assert_close(found.cpu(), expected)


@pytest.mark.parametrize("label", [-2, 4])
def test_margin_labels_out_of_range(label):
    target = torch.tensor([[0, label, -1, -1]], device="cuda")
    torch.nn.functional.multilabel_margin_loss(torch.rand(1, 4, device="cuda"), target)
    with pytest.raises(RuntimeError, match=f"index {label} is out of bounds for dimension with size 4"):
        torch.cuda.synchronize()
