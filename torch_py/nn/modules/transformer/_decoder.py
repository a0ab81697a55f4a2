"""Transformer decoders: stacks of layers that attend to themselves and to an encoder's output."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.modules.activation import MultiheadAttention
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.transformer._layer import Activation, _get_activation_fn, _Layer, copies
from torch_py.nn.modules.transformer._masks import detect_causal
from torch_py.types import Device, _dtype

__all__ = ["TransformerDecoder", "TransformerDecoderLayer"]


class TransformerDecoderLayer(_Layer):
    """A layer of a transformer decoder: self-attention, attention to the output of the encoder, and a
    feed-forward network, each with a residual connection and a normalization.

    Source: Vaswani et al., Attention is all you need (2017).

    Args:
        d_model: the number of features of inputs and output
        nhead: the number of heads of attention, which must divide `d_model`
        dim_feedforward: the number of features inside the feed-forward network; default 2048
        dropout: the probability of dropout in training; default 0.1
        activation: 'relu', 'gelu' or a function; default ReLU
        layer_norm_eps: the eps of the normalizations; default 1e-5
        batch_first: whether the batch is the first dimension; default False
        norm_first: whether to normalize before each part instead of after the sums; default False
        bias: whether linear layers and normalizations have a bias; default True
        device, dtype: those of the parameters

    The layer is called with `tgt` and `memory`, and optionally `tgt_mask` (T, T), `memory_mask` (T, S), their
    `..._key_padding_mask` (N, T) and (N, S), and `tgt_is_causal` and `memory_is_causal`, which are those of
    `MultiheadAttention`.

    Shape:
        tgt: (T, N, d_model), (N, T, d_model) with `batch_first`, or (T, d_model).
        memory: (S, N, d_model), (N, S, d_model) with `batch_first`, or (S, d_model).
        Output: the shape of `tgt`.

    Example:
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> layer(torch.randn(3, 5, 8), torch.randn(3, 7, 8)).shape
        torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **factory
        )
        self.multihead_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **factory
        )

        self._add_feed_forward(d_model, dim_feedforward, dropout, bias, factory)
        self.norm_first = norm_first
        self._add_norms(3, d_model, layer_norm_eps, dropout, bias, factory)
        self.activation = _get_activation_fn(activation)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        x = self._residual(
            tgt, self.norm1, lambda y: self._sa_block(y, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        )
        x = self._residual(
            x,
            self.norm2,
            lambda y: self._mha_block(y, memory, memory_mask, memory_key_padding_mask, memory_is_causal),
        )
        return self._residual(x, self.norm3, self._ff_block)

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        x = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout1(x)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        x = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )[0]
        return self.dropout2(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))


class TransformerDecoder(Module):
    """Applies copies of a decoder layer one after another, and a normalization at the end if there is one.

    Args:
        decoder_layer: the layer that is copied; all copies start with equal parameters
        num_layers: the number of copies
        norm: a normalization of the output; default None

    Shape:
        tgt: (T, N, d_model), (N, T, d_model) with `batch_first`, or (T, d_model).
        memory: the output of an encoder, with S in place of T.
        Output: the shape of `tgt`.

    Example:
        >>> layer = nn.TransformerDecoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> decoder = nn.TransformerDecoder(layer, num_layers=2)
        >>> decoder(torch.randn(3, 5, 8), torch.randn(3, 7, 8)).shape
        torch.Size([3, 5, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = copies(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        tgt_is_causal = detect_causal(tgt_mask, tgt_is_causal, None)
        for layer in self.layers:
            tgt = layer(
                tgt,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )

        return tgt if self.norm is None else self.norm(tgt)
