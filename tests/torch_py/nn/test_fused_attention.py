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
    groups = query.shape[1] // key.shape[1]
    found = F.scaled_dot_product_attention(
        query, key, value, mask, is_causal=causal, scale=scale, enable_gqa=groups > 1
    )
    shared = (x if groups == 1 else x.repeat_interleave(groups, 1) for x in (key, value))
    expected = formula(query, *shared, mask, causal, scale)
    torch.testing.assert_close(found, expected)
    weight = torch.randn_like(found)
    for ours, theirs in zip(
        torch.autograd.grad(found, arguments, weight), torch.autograd.grad(expected, arguments, weight)
    ):
        torch.testing.assert_close(ours, theirs)
    return found


# Blocks have 128 queries and keys; a few queries have loops of their own, with 256 keys.
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys"), [(1, 1), (3, 7), (3, 1030), (4, 129), (65, 513), (130, 1100), (7, 3), (600, 600)]
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


@pytest.mark.parametrize(("queries", "keys"), [(1, 700), (2, 5), (5, 130), (70, 260)])
@pytest.mark.parametrize("causal", [False, True])
def test_groups_of_heads(queries, keys, causal):
    torch.manual_seed(0)
    for key_heads in (1, 2):
        arguments = (heads(2, 4, queries, 5), heads(2, key_heads, keys, 5), heads(2, key_heads, keys, 5))
        compare(*arguments, causal=causal)
        compare(*arguments, torch.rand(2, 4, queries, keys) > 0.2)


def errors(found, expected):
    return [
        float((x.double() - y).norm() / y.norm())
        for x, y in zip(found, expected, strict=True)
        if bool(y.norm() > 0)
    ]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys", "width"), [(3, 300, 64), (2, 2, 1), (40, 70, 33), (129, 259, 64), (300, 300, 8)]
)
def test_accuracy_of_other_dtypes(dtype, causal, queries, keys, width):
    """Results and gradients, relative to those of float64 of the same numbers."""
    torch.manual_seed(0)
    of_type = getattr(torch, dtype)
    arguments = [torch.randn(2, 2, length, width).to(of_type) for length in (queries, keys, keys)]
    weight = torch.randn(2, 2, queries, width).to(of_type)
    mask = torch.randn(queries, keys)

    def results(tensors, weight, mask):
        tensors = [x.detach().requires_grad_() for x in tensors]
        out = F.scaled_dot_product_attention(*tensors, None if causal else mask, is_causal=causal)
        return [out, *torch.autograd.grad(out, tensors, weight)]

    found = results(arguments, weight, mask)
    assert all(x.dtype == of_type for x in found)
    expected = results([x.double() for x in arguments], weight.double(), mask.double())
    assert max(errors(found, expected)) < 8 * torch.finfo(of_type).eps


def test_masks_of_float32_and_bool_in_bfloat16():
    torch.manual_seed(0)
    arguments = [torch.randn(1, 2, length, 8).bfloat16() for length in (40, 150, 150)]
    numbers = torch.randn(40, 150)
    for mask in (numbers, numbers.bfloat16(), numbers > 0, (numbers > 0)[:1], numbers[:, :1]):
        found = F.scaled_dot_product_attention(*arguments, mask)
        exact = mask if mask.dtype == torch.bool else mask.double()
        expected = formula(*(x.double() for x in arguments), exact)
        assert max(errors([found], [expected])) < 0.02


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_rows_in_every_layout(dtype):
    """Rows as they are, at distances that are powers of two, and of projections that are interleaved."""
    torch.manual_seed(0)
    length, width = 70, 16
    wide = torch.randn(length, 2, 512).to(getattr(torch, dtype))
    projected = torch.randn(2, length, 3 * 2 * width).to(getattr(torch, dtype))
    split = projected.view(2, length, 3, 2, width).permute(2, 0, 3, 1, 4)

    for arguments in ((wide[..., :width].transpose(0, 1)[None],) * 3, tuple(split)):
        found = F.scaled_dot_product_attention(*arguments)
        assert torch.equal(found, F.scaled_dot_product_attention(*(x.contiguous() for x in arguments)))


def test_the_output_has_the_order_of_the_query():
    for order in ((0, 1, 2), (0, 2, 1), (2, 0, 1)):
        query = torch.randn(*(torch.tensor([2, 3, 70])[list(order)].tolist()), 4)
        query = query.permute(*(order.index(d) for d in range(3)), 3)
        result = F.scaled_dot_product_attention(query, query, query)
        assert result.stride() == query.stride()


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
    arguments[0] = heads(1, 4, 3, 2)
    mask = torch.tensor([[True, False, True, True]] * 2 + [[False] * 4])
    assert torch.autograd.gradgradcheck(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True), arguments
    )

    def with_seed(q, k, v, mask):
        torch.manual_seed(3)
        return F.scaled_dot_product_attention(q, k, v, mask, 0.4, enable_gqa=True)

    mask = torch.randn(4, 1, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(with_seed, [*arguments, mask])


def test_the_mask_has_a_gradient_too():
    torch.manual_seed(0)
    mask = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    query, key, value = (heads(1, 2, length, 2) for length in (3, 4, 4))
    assert torch.autograd.gradcheck(lambda m: F.scaled_dot_product_attention(query, key, value, m), [mask])


@pytest.mark.parametrize(
    "shape",
    [(2, 4, 150, 300), (4, 150, 300), (2, 1, 150, 300), (150, 300), (2, 1, 1, 300), (1, 4, 1, 300), (150, 1)],
)
@pytest.mark.parametrize("key_heads", [1, 2, 4])
def test_gradients_of_masks_that_broadcast(shape, key_heads):
    torch.manual_seed(0)
    mask = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    query = heads(2, 4, 150, 5)
    key = heads(2, key_heads, 300, 5)
    value = heads(2, key_heads, 300, 3)
    arguments = [query, key, value, mask]
    found = F.scaled_dot_product_attention(query, key, value, mask, scale=0.4, enable_gqa=True)
    shared = (x.repeat_interleave(4 // key_heads, 1) for x in (key, value))
    expected = formula(query, *shared, mask, scale=0.4)
    weight = torch.randn_like(found)
    for ours, theirs in zip(
        torch.autograd.grad(found, arguments, weight), torch.autograd.grad(expected, arguments, weight)
    ):
        torch.testing.assert_close(ours, theirs)


def with_dropout(query, key, value, kept, p, mask=None, causal=False):
    """The formula with the weights that `kept` is True for."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return torch.nan_to_num(scores.softmax(-1)) * kept / (1 - p) @ value


@pytest.mark.parametrize(
    ("queries", "keys", "key_heads"), [(1, 7, 2), (3, 300, 2), (150, 300, 1), (150, 150, 2)]
)
@pytest.mark.parametrize("kind", ["none", "causal", "bool", "float", "float, trained"])
def test_dropout_draws_the_numbers_of_the_formula(queries, keys, key_heads, kind):
    torch.manual_seed(0)
    causal = kind == "causal"
    mask = None if kind in ("none", "causal") else torch.randn(queries, keys, dtype=torch.float64)
    if kind == "bool":
        mask = mask > -1
    arguments = [heads(2, 2, queries, 5), heads(2, key_heads, keys, 5), heads(2, key_heads, keys, 4)]
    if kind == "float, trained":
        arguments.append(mask.requires_grad_())

    state = torch.get_rng_state()
    found = F.scaled_dot_product_attention(
        *arguments[:3], mask, dropout_p=0.3, is_causal=causal, enable_gqa=key_heads != 2
    )
    after = torch.get_rng_state()
    torch.set_rng_state(state)
    kept = F.dropout(torch.ones(2, 2, queries, keys, dtype=torch.float64), 0.3) > 0
    assert torch.equal(after, torch.get_rng_state())

    shared = (x.repeat_interleave(2 // key_heads, 1) for x in arguments[1:3])
    expected = with_dropout(arguments[0], *shared, kept, 0.3, mask, causal)
    torch.testing.assert_close(found, expected)
    weight = torch.randn_like(found)
    for ours, theirs in zip(
        torch.autograd.grad(found, arguments, weight), torch.autograd.grad(expected, arguments, weight)
    ):
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_dropout_of_other_dtypes(dtype):
    torch.manual_seed(0)
    of_type = getattr(torch, dtype)
    arguments = [torch.randn(1, 2, length, 24).to(of_type).requires_grad_() for length in (150, 299, 299)]
    mask = torch.randn(2, 150, 299).to(of_type).requires_grad_()
    weight = torch.randn(1, 2, 150, 24).to(of_type)

    state = torch.get_rng_state()
    found = F.scaled_dot_product_attention(*arguments, mask, dropout_p=0.2)
    found = [found, *torch.autograd.grad(found, [*arguments, mask], weight)]
    assert all(x.dtype == of_type for x in found)

    torch.set_rng_state(state)
    exact = [x.detach().double().requires_grad_() for x in (*arguments, mask)]
    kept = F.dropout(torch.ones(1, 2, 150, 299), 0.2) > 0
    expected = with_dropout(*exact[:3], kept, 0.2, exact[3])
    expected = [expected, *torch.autograd.grad(expected, exact, weight.double())]
    assert max(errors(found, expected)) < 8 * torch.finfo(of_type).eps


def test_dropout_of_everything_and_of_nothing():
    torch.manual_seed(0)
    arguments = [heads(1, 2, 5, 4) for _ in range(3)]
    assert bool((F.scaled_dot_product_attention(*arguments, dropout_p=1.0) == 0).all())
    torch.testing.assert_close(F.scaled_dot_product_attention(*arguments, dropout_p=0.0), formula(*arguments))


@only_torch_py
def test_dropout_inside_of_vmap():
    torch.manual_seed(0)
    query, key, value = (torch.randn(3, 1, 2, 40, 4) for _ in range(3))

    def attend(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)

    for shared in (None, 0):
        keys = key if shared == 0 else key[0]
        torch.manual_seed(1)
        found = torch.func.vmap(attend, (0, shared, 0), randomness="different")(query, keys, value)
        torch.manual_seed(1)
        kept = F.dropout(torch.ones(3, 1, 2, 40, 40), 0.5) > 0
        torch.testing.assert_close(found, with_dropout(query, keys, value, kept, 0.5))

    found = torch.func.vmap(attend, randomness="same")(
        *(x[:1].expand(3, -1, -1, -1, -1) for x in (query, key, value))
    )
    assert torch.equal(found[0], found[1])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("heads", "key_heads"), [(8, 8), (2, 1)])
@pytest.mark.parametrize("trains_mask", [False, True])
@only_torch_py
def test_the_number_of_threads_changes_nothing(dtype, causal, heads, key_heads, trains_mask):
    torch.manual_seed(0)
    of_type = getattr(torch, dtype)
    arguments = [
        torch.randn(1, h, length, 24).to(of_type).requires_grad_()
        for h, length in ((heads, 400), (key_heads, 700), (key_heads, 700))
    ]
    if trains_mask and not causal:
        arguments.append(torch.randn(400, 700).to(of_type).requires_grad_())

    threads = torch.get_num_threads()
    try:
        results = []
        for count in (1, 3, 7):
            torch.set_num_threads(count)
            torch.manual_seed(0)
            out = F.scaled_dot_product_attention(
                *arguments[:3],
                *arguments[3:],
                dropout_p=0.1 if trains_mask else 0.0,
                is_causal=causal,
                enable_gqa=heads > key_heads,
            )
            results.append([out, *torch.autograd.grad(out, arguments, out.detach())])
    finally:
        torch.set_num_threads(threads)

    for other in results[1:]:
        assert all(torch.equal(x, y) for x, y in zip(results[0], other, strict=True))


def test_little_memory_is_needed():
    """Scores of all pairs would take 8 GB."""
    q, k, v = (torch.randn(1, 2, 32768, 4, requires_grad=True) for _ in range(3))
    result = F.scaled_dot_product_attention(q, k, v)
    assert bool(torch.isfinite(result).all())
    torch.testing.assert_close(result[0, :, -1:], formula(q[:, :, -1:], k, v)[0])

    result.sum().backward()
    assert all(bool(torch.isfinite(x.grad).all()) for x in (q, k, v))
    torch.testing.assert_close(v.grad.sum(), result.new_tensor(float(result.numel())))


@only_torch_py
@pytest.mark.parametrize(
    ("sizes", "mask", "message"),
    [
        (((1, 2, 3, 4), (2, 2, 3, 4), (1, 2, 3, 4)), None, "batch"),
        (((1, 3, 3, 4), (1, 2, 3, 4), (1, 2, 3, 4)), None, "heads"),
        (((1, 2, 3, 4), (1, 2, 3, 4), (1, 1, 3, 4)), None, "heads"),
        (((1, 2, 3, 4), (1, 2, 3, 5), (1, 2, 3, 4)), None, "keys"),
        (((1, 2, 3, 4), (1, 2, 0, 4), (1, 2, 0, 4)), None, "keys"),
        (((2, 3, 4), (2, 3, 4), (2, 3, 4)), None, "4 dimensions"),
        (((1, 2, 3, 4),) * 3, torch.ones(3, 4), "broadcast"),
        (((1, 2, 3, 4),) * 3, torch.ones(3, 3, dtype=torch.int64), "attn_mask"),
    ],
)
def test_the_fused_operator_checks_its_arguments(sizes, mask, message):
    arguments = [torch.ones(*size) for size in sizes]
    with pytest.raises(RuntimeError, match=message):
        torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*arguments, attn_mask=mask)


@only_torch_py
def test_the_operators_for_training_check_their_arguments():
    x = torch.ones(1, 2, 3, 4)
    kept = torch.ones(1, 2, 3, 3, dtype=torch.bool)
    forward = torch.ops.aten._fused_attention
    backward = torch.ops.aten._fused_attention_backward

    for wrong, p in ((None, 0.5), (kept, 0.0), (kept, 1.0), (kept[0], 0.5), (kept.float(), 0.5)):
        with pytest.raises(RuntimeError, match="_fused_attention: expected .*weights"):
            forward(x, x, x, None, wrong, p, False, False)

    out, sums = forward(x, x, x, None, kept, 0.5, False, False)
    for mask in (None, kept):
        with pytest.raises(RuntimeError, match="floating attn_mask"):
            backward(x, x, x, x, mask, None, out, sums, 0.0, False, True)
    with pytest.raises(RuntimeError, match="logsumexp"):
        backward(x, x, x, x, None, None, out, sums[0], 0.0, False, False)
