"""Scaled dot-product attention, MultiheadAttention and the transformer layers."""

from __future__ import annotations

import math

import pytest

from tests.subject import torch

nn = torch.nn
F = torch.nn.functional


def test_attention_is_a_mean_weighted_by_softmax():
    torch.manual_seed(0)
    q = torch.randn(2, 3, 4)
    k = torch.randn(2, 5, 4)
    v = torch.randn(2, 5, 2)
    weights = (q @ k.transpose(1, 2) / 2).softmax(-1)
    torch.testing.assert_close(F.scaled_dot_product_attention(q, k, v), weights @ v)
    mask = torch.tensor([[True, False, True, False, False], [True] * 5, [False] * 5])
    scores = (q @ k.transpose(1, 2) / 2).masked_fill(~mask, -math.inf)[:, :2].softmax(-1)
    found = F.scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(found[:, :2], scores @ v)
    assert found[:, 2].tolist() == [[0, 0], [0, 0]]


def test_rows_without_keys_have_no_gradient():
    q = torch.ones(1, 2, 2, requires_grad=True)
    F.scaled_dot_product_attention(q, q, q, torch.tensor([[False, False], [True, True]])).sum().backward()
    assert bool(torch.isfinite(q.grad).all())


def test_groups_of_queries_share_keys():
    torch.manual_seed(0)
    q = torch.randn(1, 4, 3, 2)
    k = torch.randn(1, 2, 3, 2)
    v = torch.randn(1, 2, 3, 2)
    expected = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1))
    torch.testing.assert_close(F.scaled_dot_product_attention(q, k, v, enable_gqa=True), expected)


@pytest.mark.parametrize(
    "options", [{}, {"bias": False}, {"add_bias_kv": True, "add_zero_attn": True}, {"kdim": 4, "vdim": 4}]
)
def test_multihead_attention_with_and_without_weights(options):
    torch.manual_seed(0)
    layer = nn.MultiheadAttention(4, 2, **options)
    q = torch.randn(3, 2, 4)
    k = torch.randn(5, 2, 4)
    padding = torch.tensor([[False] * 5, [False, False, True, True, False]])

    output, weights = layer(q, k, k, key_padding_mask=padding)
    other, none = layer(q, k, k, key_padding_mask=padding, need_weights=False)
    torch.testing.assert_close(output, other)
    assert none is None and tuple(weights.shape) == (2, 3, 7 if "add_bias_kv" in options else 5)

    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 3))
    assert bool((weights[1, :, 2:4] == 0).all())
    assert tuple(layer(q, k, k, average_attn_weights=False)[1].shape)[:3] == (2, 2, 3)


def test_multihead_attention_batch_first_and_without_batch():
    torch.manual_seed(0)
    layer, first = nn.MultiheadAttention(4, 2), nn.MultiheadAttention(4, 2, batch_first=True)
    first.load_state_dict(layer.state_dict())
    x = torch.randn(3, 2, 4)
    torch.testing.assert_close(
        first(x.transpose(0, 1), *[x.transpose(0, 1)] * 2)[0].transpose(0, 1), layer(x, x, x)[0]
    )
    torch.testing.assert_close(layer(x[:, 0], x[:, 0], x[:, 0])[0], layer(x, x, x)[0][:, 0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.MultiheadAttention(4, 3), AssertionError, "divisible"),
        (lambda: nn.MultiheadAttention(0, 1), ValueError, "greater than 0"),
        (lambda: nn.MultiheadAttention(4, 2)(*[torch.randn(3, 2, 5)] * 3), AssertionError, "5"),
        (lambda: nn.MultiheadAttention(4, 2)(*[torch.randn(3)] * 3), AssertionError, "1-D"),
        (
            lambda: nn.MultiheadAttention(4, 2)(*[torch.randn(3, 2, 4)] * 3, attn_mask=torch.zeros(2, 3)),
            RuntimeError,
            "attn_mask",
        ),
        (lambda: nn.TransformerEncoderLayer(4, 2, activation="sin"), RuntimeError, "sin"),
        (
            lambda: nn.Transformer(4, 2, 1, 1, 8)(torch.randn(3, 2, 4), torch.randn(3, 1, 4)),
            RuntimeError,
            "batch",
        ),
        (
            lambda: nn.Transformer(4, 2, 1, 1, 8)(torch.randn(3, 2, 3), torch.randn(3, 2, 4)),
            RuntimeError,
            "d_model",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer_is_attention_and_feed_forward(norm_first):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, norm_first=norm_first)
    x = torch.randn(3, 2, 4)

    def attention(y):
        return layer.self_attn(y, y, y, need_weights=False)[0]

    def feed_forward(y):
        return layer.linear2(F.relu(layer.linear1(y)))

    if norm_first:
        expected = x + attention(layer.norm1(x))
        expected = expected + feed_forward(layer.norm2(expected))
    else:
        expected = layer.norm1(x + attention(x))
        expected = layer.norm2(expected + feed_forward(expected))
    torch.testing.assert_close(layer(x), expected)


def test_transformer_does_not_look_ahead():
    torch.manual_seed(0)
    model = nn.Transformer(4, 2, 2, 2, 8, dropout=0.0, batch_first=True)

    source, target = torch.randn(2, 5, 4), torch.randn(2, 3, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0, -math.inf, -math.inf], [0, 0, -math.inf], [0, 0, 0]]

    changed = target.clone()
    changed[:, 2] += 1
    first, second = model(source, target, tgt_mask=mask), model(source, changed, tgt_mask=mask)
    torch.testing.assert_close(first[:, :2], second[:, :2])
    assert not torch.allclose(first[:, 2], second[:, 2])

    first.sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_encoder_copies_its_layer():
    layer = nn.TransformerEncoderLayer(4, 2, 8)
    encoder = nn.TransformerEncoder(layer, 3, nn.LayerNorm(4))
    names = [name for name, _ in encoder.named_parameters()]
    assert len(names) == 3 * 12 + 2 and names[0] == "layers.0.self_attn.in_proj_weight"
    assert encoder.layers[0].linear1.weight is not encoder.layers[1].linear1.weight
    assert torch.equal(encoder.layers[0].linear1.weight, layer.linear1.weight)


def test_encoders_leave_out_padding_at_the_end_when_they_infer():
    """Without gradients, encoders skip padded positions and fill them with zeros before the last
    normalization, as in PyTorch."""
    padding = torch.tensor([[False, False, True], [False] * 3])
    scattered = torch.tensor([[True, False, False], [False] * 3])

    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x = torch.randn(2, 3, 4)
    assert encoder(x, src_key_padding_mask=padding)[0, 2].abs().sum() > 0  # a graph is recorded

    with torch.no_grad():
        inferred = encoder(x, src_key_padding_mask=padding)
        torch.testing.assert_close(inferred[0, :2], encoder(x[:1, :2])[0])
        assert inferred[0, 2].tolist() == [0] * 4 and (inferred == 0).sum() == 4
        assert encoder(x, src_key_padding_mask=scattered)[0, 0].abs().sum() > 0
        assert encoder.train()(x, src_key_padding_mask=padding)[0, 2].abs().sum() > 0

        normalised = nn.TransformerEncoder(layer, 1, nn.LayerNorm(4)).eval()
        normalised.norm.bias.fill_(0.5)
        assert normalised(x, src_key_padding_mask=padding)[0, 2].tolist() == [0.5] * 4


@pytest.mark.parametrize(
    "reason, options",
    [("norm_first", {"norm_first": True}), ("batch_first", {"batch_first": False}), ("odd", {"nhead": 3})],
)
def test_encoders_say_why_padding_stays(reason, options):
    with pytest.warns(UserWarning, match=f"self.use_nested_tensor is False because .*{reason}"):
        nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**{"d_model": 6, "nhead": 2, "batch_first": True, **options}), 1
        )


def test_mask_together_with_is_causal() -> None:
    """Batches of heads accept a mask together with is_causal; other calls accept one of the two."""
    x = torch.arange(12.0).reshape(1, 1, 3, 4) / 10
    mask = torch.tensor([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
    both = mask + torch.full((3, 3), -math.inf).triu(1)

    found = F.scaled_dot_product_attention(x, x, x, attn_mask=mask, is_causal=True)
    assert torch.allclose(found, F.scaled_dot_product_attention(x, x, x, attn_mask=both))
    assert (
        F.scaled_dot_product_attention(x, x, x, attn_mask=mask > 0, is_causal=True)[0, 0, 0].tolist()
        == [0.0] * 4
    )

    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set when is_causal=True"):
        F.scaled_dot_product_attention(x[0, 0], x[0, 0], x[0, 0], attn_mask=mask, is_causal=True)
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set when is_causal=True"):
        F.scaled_dot_product_attention(x, x, x, attn_mask=mask, is_causal=True, dropout_p=0.5)


def test_attention_refuses_a_probability_above_one() -> None:
    with pytest.raises(ValueError, match=r"between 0 and 1, but got 2\.0"):
        torch.nn.MultiheadAttention(4, 2, dropout=2.0)(*[torch.ones(2, 4)] * 3)


def test_attention() -> None:
    q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
    causal = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert torch.allclose(causal[:, 0], v[:, 0], atol=1e-5)
    mask = torch.tensor([[True, False, False]] * 3)
    assert torch.allclose(F.scaled_dot_product_attention(q, k, v, mask), v[:, :1].expand(2, 3, 4), atol=1e-5)
