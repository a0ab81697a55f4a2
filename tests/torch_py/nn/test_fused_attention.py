"""Attention in blocks, compared with the formula: masks, layouts, and gradients of both orders."""

from __future__ import annotations

import math

import pytest

from tests.subject import only_torch_py, torch

F = torch.nn.functional


def formula(query, key, value, mask=None, causal=False, scale=None):
    scores = query @ key.transpose(-2, -1) * (scale or 1 / math.sqrt(query.shape[-1]))
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return torch.nan_to_num(scores.softmax(-1)) @ value


def heads(*shape, split=False):
    """(N, H, L, E); with `split` as a view of (N, L, H * E)."""
    n, h, length, e = shape
    tensor = (
        torch.randn(n, length, h, e, dtype=torch.float64).transpose(1, 2)
        if split
        else torch.randn(*shape, dtype=torch.float64)
    )
    return tensor.requires_grad_()


def compare(query, key, value, mask=None, causal=False, scale=None):
    """Results and gradients; the tolerances are those of float64."""
    arguments = [query, key, value]
    found = F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal, scale=scale)
    expected = formula(query, key, value, mask, causal, scale)
    torch.testing.assert_close(found, expected)
    weight = torch.randn_like(found)
    for ours, theirs in zip(
        torch.autograd.grad(found, arguments, weight), torch.autograd.grad(expected, arguments, weight)
    ):
        torch.testing.assert_close(ours, theirs)
    return found


# Blocks have 64 queries and 512 keys.
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"), [(1, 1), (3, 7), (64, 512), (65, 513), (130, 1100), (7, 3), (600, 600)]
)
def test_blocks(queries, keys, causal):
    torch.manual_seed(0)
    compare(heads(1, 2, queries, 4), heads(1, 2, keys, 4), heads(1, 2, keys, 3), causal=causal)


@pytest.mark.parametrize("shape", [(2, 3, 5, 600), (2, 1, 5, 600), (1, 3, 5, 1), (5, 600), (1, 600), (1, 1)])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_masks_broadcast(shape, kind):
    torch.manual_seed(0)
    values = torch.randn(*shape, dtype=torch.float64)
    compare(
        heads(2, 3, 5, 4), heads(2, 3, 600, 4), heads(2, 3, 600, 4), values > 0 if kind == "bool" else values
    )


def test_mask_in_other_layouts():
    torch.manual_seed(0)
    transposed = torch.randn(600, 5, dtype=torch.float64).t()
    compare(heads(1, 1, 5, 4), heads(1, 1, 600, 4), heads(1, 1, 600, 4), transposed)


def test_rows_without_keys_are_zero_also_when_they_come_late():
    torch.manual_seed(0)
    mask = torch.ones(3, 600, dtype=torch.bool)
    mask[0] = False
    mask[1, :599] = False  # the first block has no key
    mask[2, 1:] = False
    result = compare(heads(1, 2, 3, 4), heads(1, 2, 600, 4), heads(1, 2, 600, 4), mask)
    assert bool((result[:, :, 0] == 0).all())


def test_heads_that_were_split_are_joined_without_a_copy():
    torch.manual_seed(0)
    q, k, v = (heads(2, 3, 70, 4, split=True) for _ in range(3))
    result = compare(q, k, v, causal=True)
    joined = result.transpose(1, 2).reshape(2, 70, 12)
    assert joined.data_ptr() == result.data_ptr()


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.transpose(2, 3).contiguous().transpose(2, 3),
        lambda t: t[:, :, :1].expand(-1, -1, 5, -1),
        lambda t: t[:1].expand(2, -1, -1, -1),
        lambda t: t[..., :1],
        lambda t: torch.cat([t, t], -1)[..., ::2],
    ],
)
def test_layouts(change):
    torch.manual_seed(0)
    compare(*(change(heads(2, 3, 5, 4).detach()).requires_grad_() for _ in range(3)))


def test_fewer_dimensions():
    torch.manual_seed(0)
    for dims in (2, 3):
        query, key, value = (
            torch.randn(*shape, dtype=torch.float64)[(0,) * (3 - dims)]
            for shape in ((2, 5, 4), (2, 6, 4), (2, 6, 3))
        )
        torch.testing.assert_close(
            F.scaled_dot_product_attention(query, key, value), formula(query, key, value)
        )


def test_large_scores_and_nan():
    query = torch.tensor([[[[200.0], [-200.0]]]])
    key = torch.tensor([[[[1.0], [-1.0], [3.0]]]])
    value = torch.tensor([[[[1.0], [2.0], [3.0]]]])
    torch.testing.assert_close(
        F.scaled_dot_product_attention(query, key, value).flatten(), torch.tensor([3.0, 2.0])
    )
    key[0, 0, 1] = math.nan
    assert bool(F.scaled_dot_product_attention(query, key, value).isnan().all())


@only_torch_py
def test_second_derivatives():
    torch.manual_seed(0)
    arguments = [heads(1, 2, 3, 2), heads(1, 2, 4, 2), heads(1, 2, 4, 2)]
    for causal in (False, True):
        assert torch.autograd.gradgradcheck(
            lambda q, k, v, c=causal: F.scaled_dot_product_attention(q, k, v, is_causal=c), arguments
        )


def test_the_mask_has_a_gradient_too():
    torch.manual_seed(0)
    mask = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    query, key, value = (heads(1, 2, length, 2) for length in (3, 4, 4))
    assert torch.autograd.gradcheck(lambda m: F.scaled_dot_product_attention(query, key, value, m), [mask])


def test_the_number_of_threads_changes_nothing():
    torch.manual_seed(0)
    arguments = [torch.randn(4, 2, 100, 8) for _ in range(3)]
    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 3):
            torch.set_num_threads(count)
            results.append(F.scaled_dot_product_attention(*arguments, is_causal=True))
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(*results)


def test_little_memory_is_needed():
    """Scores of all pairs would take 8 GB."""
    q, k, v = (torch.randn(1, 2, 32768, 4) for _ in range(3))
    result = F.scaled_dot_product_attention(q, k, v)
    assert bool(torch.isfinite(result).all())
    torch.testing.assert_close(result[0, :, -1:], formula(q[:, :, -1:], k, v)[0])
