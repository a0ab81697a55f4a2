"""Fused attention on CUDA: values and gradients against float64, lengths around tiles, layouts, groups.

A tile is 64 queries or keys, and heads are padded to 64 or 128 elements: see Note [Attention tiles].
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.subject import WITH_PEER, torch

pytestmark = [
    pytest.mark.skipif(WITH_PEER, reason="compares our devices"),
    pytest.mark.skipif("TORCH_PY_CUDA_LIBRARY" not in os.environ, reason="make test-cuda runs these"),
]

F = torch.nn.functional
DTYPES = ["bfloat16", "float16"]
LENGTHS = [(1, 1), (17, 17), (64, 64), (65, 130), (130, 65), (1, 200), (130, 1)]


@pytest.fixture(autouse=True)
def on_the_device() -> Iterator[None]:
    """Nothing runs on the host."""
    torch.manual_seed(0)
    torch.cuda.reset_host_fallbacks()
    yield
    assert not torch.cuda.host_fallbacks()


def heads(*shape: int, dtype: str = "bfloat16") -> Any:
    """(N, H, L, E), on the CPU."""
    return torch.randn(*shape).to(getattr(torch, dtype))


def formula(query: Any, key: Any, value: Any, causal: bool, scale: float | None) -> Any:
    """Attention in float64, on the CPU."""
    key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, -math.inf)
    return scores.softmax(-1) @ value


def attend(query: Any, key: Any, value: Any, causal: bool = False, scale: float | None = None) -> Any:
    groups = query.shape[1] != key.shape[1]
    return F.scaled_dot_product_attention(query, key, value, is_causal=causal, scale=scale, enable_gqa=groups)


def error(found: Any, expected: Any) -> float:
    """Relative to the expected tensor, or to 1 where that is small."""
    difference = float((found.detach().cpu().double() - expected.detach()).norm())
    return difference / max(float(expected.detach().norm()), math.sqrt(expected.numel()) / 16)


def results(inputs: list[Any], weight: Any, causal: bool, scale: float | None) -> list[Any]:
    """On CUDA: the output and the gradients of the three inputs."""
    inputs = [x.requires_grad_() for x in inputs]
    out = attend(*inputs, causal, scale)
    assert "FusedAttention" in out.grad_fn.name()
    return [out, *torch.autograd.grad(out, inputs, weight)]


def check(query: Any, key: Any, value: Any, causal: bool = False, scale: float | None = None) -> None:
    """Values and gradients on CUDA against float64, within a few roundings of the dtype."""
    weight = torch.randn(*query.shape[:3], value.shape[3]).to(query.dtype)
    found = results([x.cuda() for x in (query, key, value)], weight.cuda(), causal, scale)

    exact = [x.double().requires_grad_() for x in (query, key, value)]
    out = formula(*exact, causal, scale)
    expected = [out, *torch.autograd.grad(out, exact, weight.double())]

    limit = 4 * torch.finfo(query.dtype).eps
    for name, mine, theirs in zip(("out", "query", "key", "value"), found, expected, strict=True):
        assert mine.dtype == query.dtype
        assert error(mine, theirs) < limit, name


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("queries", "keys"), LENGTHS)
def test_lengths(queries: int, keys: int, causal: bool, dtype: str) -> None:
    query = heads(1, 2, queries, 64, dtype=dtype)
    key, value = (heads(1, 2, keys, 64, dtype=dtype) for _ in range(2))
    check(query, key, value, causal)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("width", "value_width"), [(8, 8), (40, 40), (80, 80), (128, 128), (64, 16), (24, 96)]
)
def test_sizes_of_heads(width: int, value_width: int, causal: bool) -> None:
    check(heads(1, 1, 70, width), heads(1, 1, 90, width), heads(1, 1, 90, value_width), causal)


@pytest.mark.parametrize("scale", [0.3, -0.2, 0.0, 2.0])
def test_scale(scale: float) -> None:
    check(*(heads(1, 1, 70, 16) for _ in range(3)), scale=scale)
    check(*(heads(1, 1, 70, 16) for _ in range(3)), causal=True, scale=scale)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("key_heads", [1, 2])
def test_groups_of_heads(key_heads: int, causal: bool) -> None:
    check(heads(2, 4, 70, 16), heads(2, key_heads, 80, 16), heads(2, key_heads, 80, 16), causal)


def test_many_blocks() -> None:
    """Enough for warps with two tiles of 16 rows."""
    check(heads(25, 4, 130, 8), heads(25, 4, 140, 8), heads(25, 4, 140, 8), causal=True)


def test_small_batches() -> None:
    """Also a sample for the detector of races."""
    check(*(heads(2, 2, 66, 8) for _ in range(3)), causal=True)


def on_cuda(inputs: list[Any], causal: bool = False) -> list[Any]:
    weight = torch.ones(*inputs[0].shape[:3], inputs[2].shape[3], dtype=inputs[0].dtype).cuda()
    return results([x.detach() for x in inputs], weight, causal, None)


def assert_equal(some: list[Any], others: list[Any]) -> None:
    for a, b in zip(some, others, strict=True):
        assert torch.equal(a.detach().cpu(), b.detach().cpu())


@pytest.mark.parametrize("layout", ["heads inside", "interleaved", "shifted", "columns", "expanded"])
def test_layouts(layout: str) -> None:
    """Rows wherever they are give the results of contiguous ones."""
    if layout == "heads inside":
        inputs = [heads(2, 70, 2, 16).cuda().transpose(1, 2) for _ in range(3)]
    elif layout == "interleaved":
        inputs = list(heads(2, 70, 3 * 2 * 16).cuda().view(2, 70, 3, 2, 16).permute(2, 0, 3, 1, 4))
    elif layout == "shifted":
        inputs = [heads(2 * 2 * 70 * 16 + 3).cuda()[3:].view(2, 2, 70, 16) for _ in range(3)]
    elif layout == "columns":
        inputs = [heads(2, 2, 16, 70).cuda().transpose(2, 3) for _ in range(3)]
    else:
        inputs = [heads(1, 1, 70, 16).cuda().expand(2, 2, 70, 16) for _ in range(3)]

    assert_equal(on_cuda(inputs), on_cuda([x.contiguous() for x in inputs]))


def test_the_output_has_the_order_of_the_query() -> None:
    query = heads(2, 70, 2, 16).cuda().transpose(1, 2)
    assert attend(query, query, query).stride() == query.stride()


def test_gradients_that_are_expanded() -> None:
    inputs = [heads(1, 2, 70, 16).cuda().requires_grad_() for _ in range(3)]
    attend(*inputs).sum().backward()
    assert_equal([x.grad for x in inputs], on_cuda(inputs)[1:])


def test_runs_are_equal_bit_by_bit() -> None:
    inputs = [heads(1, 4, 130, 64).cuda(), *(heads(1, 2, 140, 64).cuda() for _ in range(2))]
    assert_equal(on_cuda(inputs, causal=True), on_cuda(inputs, causal=True))


def test_logsumexp() -> None:
    query, key, value = (heads(1, 2, 70, 16) for _ in range(3))
    call = torch.ops.aten._fused_attention
    _, found = call(*(x.cuda() for x in (query, key, value)), None, None, 0.0, False, False)
    expected = (query.double() @ key.double().transpose(-2, -1) / 4).logsumexp(-1)
    assert found.dtype == torch.float32
    assert float((found.cpu().double() - expected).abs().max()) < 1e-5


@pytest.mark.parametrize("causal", [False, True])
def test_large_scores(causal: bool) -> None:
    """The largest score comes late, early, and everywhere."""
    query, key, value = (heads(1, 1, 140, 16) for _ in range(3))
    key[:, :, 100] *= 40
    key[:, :, 3] *= -40
    check(query, key, value, causal)


def test_not_a_number_stays_in_its_rows() -> None:
    query, key, value = (heads(1, 1, 70, 16) for _ in range(3))
    query[0, 0, 5, 3] = math.nan
    out = attend(query.cuda(), key.cuda(), value.cuda()).cpu().float()
    assert bool(out[0, 0, 5].isnan().all())
    assert int(out.isnan().sum()) == 16


def test_second_derivatives() -> None:
    """They go through the composition."""
    inputs = [heads(1, 1, 9, 8) for _ in range(3)]

    def derivatives(tensors: list[Any]) -> list[Any]:
        tensors = [x.detach().requires_grad_() for x in tensors]
        first = torch.autograd.grad(attend(*tensors).square().sum(), tensors, create_graph=True)
        return torch.autograd.grad(sum(x.square().sum() for x in first), tensors)

    found = derivatives([x.cuda() for x in inputs])
    for mine, theirs in zip(found, derivatives([x.double() for x in inputs]), strict=True):
        assert error(mine, theirs) < 16 * torch.finfo(torch.bfloat16).eps


def test_vmap() -> None:
    query, key, value = (heads(3, 1, 2, 20, 8).cuda() for _ in range(3))
    found = torch.func.vmap(attend)(query, key, value)
    assert_equal(list(found), [attend(q, k, v) for q, k, v in zip(query, key, value, strict=True)])


def masked_formula(query: Any, key: Any, value: Any, mask: Any, causal: bool) -> Any:
    """With a mask; rows without keys are zero."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if causal:
        scores = scores + torch.full(scores.shape[-2:], -math.inf, dtype=torch.float64).triu(1)
    masked = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask.double()
    empty = (masked == -math.inf).all(-1, True)
    return masked.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0) @ value


def check_calls(ours: Any, theirs: Any, inputs: list[Any]) -> None:
    """Values and gradients of two functions of the same tensors, on CUDA and in float64."""
    mine = [x.cuda().requires_grad_() for x in inputs]
    exact = [x.double().requires_grad_() for x in inputs]
    weight = torch.randn(*inputs[0].shape).to(inputs[0].dtype)
    out, expected = ours(*mine), theirs(*exact)
    found = [out, *torch.autograd.grad(out, mine, weight.cuda())]
    wanted = [expected, *torch.autograd.grad(expected, exact, weight.double())]
    for a, b in zip(found, wanted, strict=True):
        assert error(a, b) < 4 * torch.finfo(a.dtype).eps


@pytest.mark.parametrize("size", [16, 80])
@pytest.mark.parametrize("shape", [(70, 90), (2, 1, 70, 90), (1, 3, 1, 90), (70, 1), (2, 3, 70, 90)])
@pytest.mark.parametrize("kind", ["bool", "float32", "bfloat16"])
def test_masks(kind: str, shape: tuple[int, ...], size: int) -> None:
    mask = torch.randn(*shape)
    mask = mask > 0 if kind == "bool" else mask.to(getattr(torch, kind))
    inputs = [heads(2, 3, 70, size), heads(2, 3, 90, size), heads(2, 3, 90, size)]
    check_calls(
        lambda *tensors: F.scaled_dot_product_attention(*tensors, mask.cuda()),
        lambda *tensors: masked_formula(*tensors, mask, False),
        inputs,
    )


def test_masks_with_causality_in_other_layouts_and_without_keys() -> None:
    mask = torch.rand(90, 70).t() > 0.5
    mask[3] = False
    mask[64:] = False
    inputs = [heads(1, 2, 70, 16), heads(1, 2, 90, 16), heads(1, 2, 90, 16)]
    check_calls(
        lambda *tensors: F.scaled_dot_product_attention(*tensors, mask.cuda(), is_causal=True),
        lambda *tensors: masked_formula(*tensors, mask, True),
        inputs,
    )


def test_the_gradient_of_a_mask() -> None:
    mask = torch.randn(1, 2, 70, 90).bfloat16()
    inputs = [heads(2, 2, 70, 16), *(heads(2, 2, 90, 16) for _ in range(2))]

    def derivative(tensors: list[Any], mask: Any) -> Any:
        mask = mask.requires_grad_()
        out = F.scaled_dot_product_attention(*tensors, mask)
        return torch.autograd.grad(out.square().sum(), mask)[0]

    found = derivative([x.cuda() for x in inputs], mask.cuda())
    expected = derivative([x.double() for x in inputs], mask.double())
    assert error(found, expected) < 8 * torch.finfo(torch.bfloat16).eps


@pytest.mark.parametrize("masked", [False, True])
def test_dropout(masked: bool) -> None:
    """The given weights are kept, before and after the others of the softmax."""
    kept = torch.rand(2, 2, 70, 90) > 0.3
    mask = torch.randn(70, 90) if masked else None
    inputs = [heads(2, 2, 70, 16), *(heads(2, 2, 90, 16) for _ in range(2))]

    def call(*tensors: Any) -> Any:
        some = None if mask is None else mask.cuda()
        return torch.ops.aten._fused_attention(*tensors, some, kept.cuda(), 0.3, False, False)[0]

    def formula_of(query: Any, key: Any, value: Any) -> Any:
        scores = query @ key.transpose(-2, -1) / 4 + (0 if mask is None else mask.double())
        return (scores.softmax(-1) * kept / 0.7) @ value

    check_calls(call, formula_of, inputs)


def test_dropout_follows_the_generator() -> None:
    query, key, value = (heads(1, 2, 70, 16).cuda() for _ in range(3))
    ones = torch.ones_like(value)

    def run() -> Any:
        torch.cuda.manual_seed(5)
        return F.scaled_dot_product_attention(query, key, ones, dropout_p=0.25)

    first = run()
    assert torch.equal(first, run())
    assert abs(float(first.float().mean()) - 1) < 0.1
    assert float(first.float().std()) > 0.01


@pytest.mark.parametrize("case", ["float32", "dropout of all", "size 12", "size 136"])
def test_what_the_kernels_do_not_take(case: str) -> None:
    """The composition computes it."""
    size = int(case.split()[1]) if "size" in case else 16
    inputs = [heads(1, 2, 20, size, dtype="float32" if case == "float32" else "bfloat16") for _ in range(3)]
    dropout = 1.0 if "dropout" in case else 0.0

    found = F.scaled_dot_product_attention(*(x.cuda() for x in inputs), dropout_p=dropout)
    expected = F.scaled_dot_product_attention(*(x.double() for x in inputs), dropout_p=dropout)
    assert error(found, expected) < 4 * torch.finfo(found.dtype).eps
