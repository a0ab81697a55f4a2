"""scaled_dot_product_attention, forward and trained."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..case import Case, Group


def mask_of(t: Any, x: Any, kind: str, length: int, keys: int) -> Any:
    if not kind:
        return None
    mask = x(length, keys)
    return mask > -1 if kind == "bool" else mask.requires_grad_(kind == "trained")


def attention(
    batch: int,
    heads: int,
    length: int,
    width: int = 64,
    *,
    keys: int = 0,
    key_heads: int = 0,
    causal: bool = False,
    mask: str = "",
    dropout: float = 0.0,
    trained: bool = False,
    dtype: str = "float32",
) -> Case:
    """`keys` and `key_heads` are those of the queries by default.

    The `mask` of all heads is "bool", "float", or "trained", which is one with a gradient.
    """
    keys = keys or length
    key_heads = key_heads or heads

    def make(t: Any, x: Any) -> Callable[[], Any]:
        of_type = getattr(t, dtype)
        query = x(batch, heads, length, width).to(of_type)
        key, value = (x(batch, key_heads, keys, width).to(of_type) for _ in range(2))
        call = partial(
            t.nn.functional.scaled_dot_product_attention,
            query,
            key,
            value,
            mask_of(t, x, mask, length, keys),
            dropout,
            is_causal=causal,
            enable_gqa=heads != key_heads,
        )
        if not trained:
            return call

        for operand in (query, key, value):
            operand.requires_grad_()
        gradient = t.ones_like(query)
        return lambda: call().backward(gradient)

    words = [f"{batch * heads} heads, length {length}, width {width}"]
    words += [f"{keys} keys"] * (keys != length) + [f"of {batch * key_heads} heads"] * (heads != key_heads)
    words += [f"{mask} mask"] * bool(mask) + ["dropout"] * (dropout > 0)
    words += ["causal"] * causal + ["trained"] * trained + [dtype] * (dtype != "float32")
    # Two products forward and five backward, half of each with a causal mask.
    products = (7 if trained else 2) / (2 if causal else 1)

    flops = products * 2.0 * batch * heads * length * keys * width
    return Case(", ".join(words), make, flops=flops, dtype=dtype)


GROUP = Group(
    "attention",
    mean_goal=0.5,
    worst_goal=0.8,
    cases=(
        attention(4, 8, 128),
        attention(4, 8, 128, causal=True),
        attention(1, 12, 512),
        attention(1, 12, 512, causal=True),
        attention(1, 8, 2048),
        attention(1, 12, 512, trained=True),
        attention(4, 8, 128, causal=True, trained=True),
        attention(1, 12, 512, mask="bool"),
        attention(1, 12, 512, mask="trained", trained=True),
        attention(1, 12, 512, dropout=0.1),
        attention(1, 12, 512, dropout=0.1, causal=True, trained=True),
        attention(1, 4, 512, 256, trained=True),
        attention(1, 12, 512, dtype="bfloat16"),
        attention(1, 12, 512, trained=True, dtype="bfloat16"),
        attention(1, 16, 256, key_heads=4),
        attention(1, 16, 1, 128, keys=2048, key_heads=4),
        attention(1, 8, 1, 128),
    ),
)
