"""Multi-head attention (Vaswani et al. 2017) as a function."""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

from torch_py import _C
from torch_py._C import _nn, _torch
from torch_py._tensor import Tensor
from torch_py.types import _dtype

__all__ = ["multi_head_attention_forward", "scaled_dot_product_attention"]

scaled_dot_product_attention = _nn.scaled_dot_product_attention
_linear = _nn.linear
_pad = _nn.pad
_dropout = _torch.dropout
_softmax = _torch.softmax


def dtype_of_mask(mask: Tensor | None) -> _dtype | None:
    """Returns the dtype of a mask, or None without a mask. Raises RuntimeError unless it is a tensor."""
    if mask is not None and not isinstance(mask, Tensor):
        raise RuntimeError(f"a mask must be None or a torch.Tensor, got {type(mask).__name__}")
    return None if mask is None else mask.dtype


def canonical_mask(
    mask: Tensor | None,
    name: str,
    other_dtype: _dtype | None,
    other_name: str,
    dtype: _dtype | None,
    check_other: bool = True,
) -> Tensor | None:
    """Returns the mask as one to add to scores: -inf where a boolean mask is True.

    Raises AssertionError unless the mask is boolean or floating.
    """
    if mask is None:
        return None
    if mask.dtype != _C.bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")

    if check_other and other_dtype is not None and mask.dtype != other_dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )

    if mask.is_floating_point():
        return mask
    return _torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))


def _check(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _is_batched(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None, heads: int
) -> bool:
    """Returns whether the inputs have a batch dimension.

    Raises AssertionError if their dimensions do not fit together.
    """
    if query.dim() not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.dim()}-D query tensor"
        )

    dims = query.dim()
    kind = "batched" if dims == 3 else "unbatched"
    _check(
        key.dim() == dims and value.dim() == dims,
        f"For {kind} ({dims}-D) `query`, expected `key` and `value` to be {dims}-D but found {key.dim()}-D "
        f"and {value.dim()}-D tensors respectively",
    )
    _check(
        padding is None or padding.dim() == dims - 1,
        f"For {kind} ({dims}-D) `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
        f"{padding.dim() if padding is not None else 0}-D tensor instead",
    )

    if mask is not None:
        _check(
            mask.dim() in (2, 3),
            f"For {kind} ({dims}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
            f"{mask.dim()}-D tensor instead",
        )
        if mask.dim() == 3 and dims == 2:
            expected = (heads, query.shape[0], key.shape[0])
            _check(
                tuple(mask.shape) == expected,
                f"Expected `attn_mask` shape to be {expected} but got {tuple(mask.shape)}",
            )

    return dims == 3


class _HeadShape(NamedTuple):
    """How the features of a batch are split into heads: `width` features each."""

    batch: int
    heads: int
    width: int

    @property
    def rows(self) -> int:
        """The heads of all members of the batch."""
        return self.batch * self.heads

    def split(self, x: Tensor) -> Tensor:
        """Splits (length, N, E) into heads: (N * heads, length, E / heads)."""
        return x.reshape(len(x), self.rows, self.width).transpose(0, 1)

    def checked(self, name: str, x: Tensor) -> Tensor:
        """Returns a key or value that is split already. Raises AssertionError if it does not fit."""
        _check(x.shape[0] == self.rows, f"expecting {name}.size(0) of {self.rows}, but got {x.shape[0]}")
        _check(x.shape[2] == self.width, f"expecting {name}.size(2) of {self.width}, but got {x.shape[2]}")
        return x


def _with_batch(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Adds a batch of one.

    Arguments that are the same tensor stay the same tensor, for which one product is enough.
    """
    batch_of_query = query.unsqueeze(1)
    batch_of_key = batch_of_query if key is query else key.unsqueeze(1)
    batch_of_value = batch_of_key if value is key else value.unsqueeze(1)
    return batch_of_query, batch_of_key, batch_of_value


def _checked_shape(
    query: Tensor, key: Tensor, value: Tensor, features: int, heads: int, are_apart: bool
) -> _HeadShape:
    """Returns how features are split. Raises AssertionError if the inputs do not fit together."""
    _, batch, width = query.shape
    _check(width == features, f"was expecting embedding dimension of {features}, but got {width}")
    _check(width // heads * heads == width, f"embed_dim {width} not divisible by num_heads {heads}")
    if are_apart:
        _check(
            key.shape[:2] == value.shape[:2],
            f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}",
        )
    else:
        _check(key.shape == value.shape, f"key shape {key.shape} does not match value shape {value.shape}")
    return _HeadShape(batch, heads, width // heads)


def _projected_together(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, ...]:
    """Projects query, key and value with one weight; inputs that are the same tensor share a product."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    width = query.shape[-1]
    if key is value and query is key:
        return tuple(_linear(query, weight, bias).chunk(3, -1))

    weights = weight.split(width)
    biases = bias.split(width) if bias is not None else (None, None, None)

    if key is value:
        both = _linear(key, weight[width:], bias[width:] if bias is not None else None)
        return (_linear(query, weights[0], biases[0]), *both.chunk(2, -1))
    return tuple(_linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True))


def _projected_apart(
    inputs: tuple[Tensor, ...], weights: tuple[Tensor | None, ...], bias: Tensor | None
) -> tuple[Tensor, ...]:
    """Projects query, key and value, which may differ in width, with one weight each."""
    present: list[Tensor] = []
    width = inputs[0].shape[-1]
    for name, x, weight in zip("qkv", inputs, weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        _check(
            tuple(weight.shape) == (width, x.shape[-1]),
            f"expecting {name} weight shape of {(width, x.shape[-1])}, but got {tuple(weight.shape)}",
        )
        present.append(weight)

    biases = bias.chunk(3) if bias is not None else (None, None, None)
    return tuple(_linear(x, w, b) for x, w, b in zip(inputs, present, biases, strict=True))


def _extended(mask: Tensor | None, keys: int) -> Tensor | None:
    """Returns the mask for some more keys, which are attended to."""
    return _pad(mask, (0, keys)) if mask is not None and keys else mask


def _shaped_mask(mask: Tensor | None, batch_heads: int, targets: int, sources: int) -> Tensor | None:
    """Returns the mask with three dimensions. Raises RuntimeError for a shape that does not fit."""
    if mask is None:
        return None
    expected = (targets, sources) if mask.dim() == 2 else (batch_heads, targets, sources)
    if tuple(mask.shape) != expected:
        raise RuntimeError(
            f"The shape of the {mask.dim()}D attn_mask is {tuple(mask.shape)}, but should be {expected}."
        )
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Computes attention with several heads, given the weights of a `nn.MultiheadAttention`:

        headᵢ = softmax(Qᵢ · Kᵢᵀ / √(E / num_heads) + mask) · Vᵢ

    Args:
        query: (L, N, E) or (L, E)
        key, value: (S, N, ...) or (S, ...)
        embed_dim_to_check: E
        num_heads: the number of heads
        in_proj_weight, in_proj_bias: (3 · E, E) and (3 · E,), the projections of queries, keys and values
        bias_k, bias_v: (1, 1, E), appended to keys and values, or None
        add_zero_attn: whether to append a key and a value of zeros
        dropout_p: the probability of dropping a weight
        out_proj_weight, out_proj_bias: (E, E) and (E,), the projection of the output
        training: whether weights are dropped; default True
        key_padding_mask: (N, S), True where a key is padding; default None
        need_weights: whether to return the weights; default True
        attn_mask: (L, S) or (N · num_heads, L, S), True where a query may not attend, or floats to add;
            default None
        use_separate_proj_weight: whether the projections are `q_proj_weight`, `k_proj_weight`,
            `v_proj_weight`; default False
        q_proj_weight, k_proj_weight, v_proj_weight: (E, E), (E, kdim), (E, vdim)
        static_k, static_v: keys and values that are projected already; default None
        average_attn_weights: whether returned weights are the mean over heads; default True
        is_causal: a hint that `attn_mask` is causal; default False

    Returns:
        The output (L, N, E), and the weights (N, L, S) or None.

    Example:
        >>> x = torch.ones(2, 1, 4)
        >>> weights = torch.zeros(12, 4), torch.zeros(12), None, None, False, 0.0, torch.eye(4), None
        >>> output, _ = F.multi_head_attention_forward(x, x, x, 4, 2, *weights)
        >>> output.shape
        torch.Size([2, 1, 4])
    """
    is_batched = _is_batched(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = _with_batch(query, key, value)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    shape = _checked_shape(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)

    # Convert both masks to tensors that are added to the scores.
    padding = canonical_mask(
        key_padding_mask, "key_padding_mask", dtype_of_mask(attn_mask), "attn_mask", query.dtype
    )
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    mask = canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
    mask = _shaped_mask(mask, shape.rows, len(query), len(key))

    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
        q, k, v = _projected_apart((query, key, value), weights, in_proj_bias)
    else:
        q, k, v = _projected_together(query, key, value, in_proj_weight, in_proj_bias)

    # Append the keys and values that every query attends to, and split into heads.
    k, v = _with_learned(k, v, bias_k, bias_v, static_k, static_v)
    q = shape.split(q)
    k = shape.split(k) if static_k is None else shape.checked("static_k", static_k)
    v = shape.split(v) if static_v is None else shape.checked("static_v", static_v)
    if add_zero_attn:
        zeros = _torch.zeros((shape.rows, 1, shape.width), dtype=k.dtype, device=k.device)
        k, v = _torch.cat([k, zeros], 1), _torch.cat([v, zeros], 1)
    appended = int(bias_k is not None) + int(add_zero_attn)
    mask = _with_padding(_extended(mask, appended), _extended(padding, appended), shape, k.shape[1])

    dropout_p = dropout_p if training else 0.0
    if need_weights:
        attended, scores = _attend(q, k, v, mask, dropout_p)
        output = _projected_back(attended, shape, out_proj_weight, out_proj_bias)
        scores = scores.view(shape.batch, num_heads, *scores.shape[1:])
        scores = scores.mean(dim=1) if average_attn_weights else scores
    else:
        attended, scores = _attend_fused(q, k, v, mask, dropout_p, shape), None
        output = _projected_back(attended, shape, out_proj_weight, out_proj_bias)

    if is_batched:
        return output, scores
    return output.squeeze(1), None if scores is None else scores.squeeze(0)


def _with_learned(
    k: Tensor,
    v: Tensor,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    static_k: Tensor | None,
    static_v: Tensor | None,
) -> tuple[Tensor, Tensor]:
    """Appends the learned key and value to each member of the batch, if there are any."""
    if bias_k is None or bias_v is None:
        _check(bias_k is None and bias_v is None, "bias_k and bias_v have to be given together")
        return k, v
    _check(static_k is None and static_v is None, "bias cannot be added to static key or value.")
    batch = k.shape[1]
    return _torch.cat([k, bias_k.repeat(1, batch, 1)]), _torch.cat([v, bias_v.repeat(1, batch, 1)])


def _with_padding(
    mask: Tensor | None, padding: Tensor | None, shape: _HeadShape, sources: int
) -> Tensor | None:
    """Adds the mask of padded keys, (N, S), to that of the scores."""
    if padding is None:
        return mask
    expected = (shape.batch, sources)
    _check(
        tuple(padding.shape) == expected,
        f"expecting key_padding_mask shape of {expected}, but got {tuple(padding.shape)}",
    )
    rows = padding.view(shape.batch, 1, 1, sources).expand(-1, shape.heads, -1, -1)
    rows = rows.reshape(shape.rows, 1, sources)
    return rows if mask is None else mask + rows


def _attend(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float) -> tuple[Tensor, Tensor]:
    """Returns softmax(q kᵀ / sqrt(width) + mask) v, and the softmax."""
    scores = (q * math.sqrt(1.0 / q.shape[-1])).bmm(k.transpose(-2, -1))
    weights = _softmax(scores if mask is None else scores + mask, -1)
    if dropout_p > 0.0:
        if dropout_p > 1.0:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {dropout_p}")
        weights = _dropout(weights, dropout_p, True)
    return weights.bmm(v), weights


def _attend_fused(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, shape: _HeadShape
) -> Tensor:
    """As `_attend`, without the softmax, which is never in memory as a whole."""
    if mask is not None:
        mask = mask.unsqueeze(0) if len(mask) == 1 else mask.view(shape.batch, shape.heads, *mask.shape[1:])
    q, k, v = (x.view(shape.batch, shape.heads, x.shape[1], shape.width) for x in (q, k, v))
    attended = scaled_dot_product_attention(q, k, v, mask, dropout_p)
    return attended.reshape(shape.rows, q.shape[2], shape.width)


def _projected_back(attended: Tensor, shape: _HeadShape, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Joins the heads of (N * heads, L, E / heads), and projects them: (L, N, E)."""
    targets = attended.shape[1]
    joined = attended.transpose(0, 1).reshape(targets * shape.batch, shape.heads * shape.width)
    output = _linear(joined, weight, bias)
    return output.view(targets, shape.batch, output.shape[1])
