"""Multi-head attention (Vaswani et al. 2017) as a module."""

from __future__ import annotations

from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.linear import NonDynamicallyQuantizableLinear
from torch_py.nn.modules.module import Module
from torch_py.nn.parameter import Parameter
from torch_py.types import Device, _dtype

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Lets every position of one sequence gather information from all positions of another, with several
    heads.

    Each head projects queries, keys and values to E = embed_dim / num_heads features and computes

        headᵢ = softmax(Qᵢ · Kᵢᵀ / √E) · Vᵢ

    A linear layer, `out_proj`, maps the joined heads to the output. If keys and values have as many features
    as queries, one parameter, `in_proj_weight`, holds the three projections; otherwise they are
    `q_proj_weight`, `k_proj_weight` and `v_proj_weight`.

    Source: Vaswani et al., Attention is all you need (2017).

    Args:
        embed_dim: the number of features of queries and of the output
        num_heads: the number of heads, which must divide `embed_dim`
        dropout: the probability of dropping an attention weight in training; default 0.0
        bias: whether the projections add a learned bias; default True
        add_bias_kv: whether to append a learned key and value to each sequence; default False
        add_zero_attn: whether to append a key and a value of zeros to each sequence; default False
        kdim: the number of features of keys; default `embed_dim`
        vdim: the number of features of values; default `embed_dim`
        batch_first: whether the batch is the first dimension of inputs and output; default False
        device, dtype: those of the parameters

    Shape:
        query: (L, N, embed_dim), (N, L, embed_dim) with `batch_first`, or (L, embed_dim).
        key: (S, N, kdim), (N, S, kdim) with `batch_first`, or (S, kdim).
        value: (S, N, vdim), (N, S, vdim) with `batch_first`, or (S, vdim).
        Output: the shape of the query; the weights are (N, L, S) or (L, S).

    Raises:
        ValueError: `embed_dim` or `num_heads` is not positive
        AssertionError: `num_heads` does not divide `embed_dim`

    Example:
        >>> attention = nn.MultiheadAttention(embed_dim=8, num_heads=2, batch_first=True)
        >>> tokens = torch.randn(4, 5, 8)
        >>> output, weights = attention(tokens, tokens, tokens)
        >>> output.shape, weights.shape
        (torch.Size([4, 5, 8]), torch.Size([4, 5, 5]))
    """

    in_proj_weight: Parameter | None
    in_proj_bias: Parameter | None
    q_proj_weight: Parameter | None
    k_proj_weight: Parameter | None
    v_proj_weight: Parameter | None
    bias_k: Parameter | None
    bias_v: Parameter | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        if embed_dim % num_heads != 0:
            raise AssertionError("embed_dim must be divisible by num_heads")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.head_dim = embed_dim // num_heads

        def parameter(*shape: int) -> Parameter:
            return Parameter(_torch.empty(shape, device=device, dtype=dtype))

        together = self._qkv_same_embed_dim
        self.register_parameter("in_proj_weight", parameter(3 * embed_dim, embed_dim) if together else None)
        for name, width in (
            ("q_proj_weight", embed_dim),
            ("k_proj_weight", self.kdim),
            ("v_proj_weight", self.vdim),
        ):
            self.register_parameter(name, None if together else parameter(embed_dim, width))
        self.register_parameter("in_proj_bias", parameter(3 * embed_dim) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, device=device, dtype=dtype
        )
        for name in ("bias_k", "bias_v"):
            setattr(self, name, parameter(1, 1, embed_dim) if add_bias_kv else None)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)  # type: ignore[arg-type]
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the output, and the attention weights or None.

        Args:
            query, key, value: the three sequences; their shapes are those of the class
            key_padding_mask: (N, S), True (or, for floats, a large negative number) where a key is padding
            need_weights: whether to return the attention weights. False is faster
            attn_mask: (L, S) or (N · num_heads, L, S), True where a query may not attend to a key, or a float
                mask that is added to the scores
            average_attn_weights: whether the weights are the mean over heads, (N, L, S), or those of each
                head, (N, num_heads, L, S)
            is_causal: a hint that `attn_mask` is the causal mask, which must be given too
        """
        swapped = self.batch_first and query.dim() == 3
        if swapped:
            # Arguments that are the same tensor must stay the same tensor.
            if query is key and key is value:
                query = key = value = query.transpose(1, 0)
            elif key is value:
                query = query.transpose(1, 0)
                key = value = key.transpose(1, 0)
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))

        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )

        return (output.transpose(1, 0) if swapped else output), weights
