"""Transformer encoders: stacks of self-attention and feed-forward layers."""

from __future__ import annotations

import warnings
from typing import Any

from torch_py import _C
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn.functional._attention import canonical_mask, dtype_of_mask
from torch_py.nn.modules.activation import GELU, MultiheadAttention, ReLU
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.transformer._layer import Activation, _get_activation_fn, _Layer, copies
from torch_py.nn.modules.transformer._masks import detect_causal
from torch_py.types import Device, _dtype

__all__ = ["TransformerEncoder", "TransformerEncoderLayer"]


class TransformerEncoderLayer(_Layer):
    """A layer of a transformer encoder: self-attention, then a feed-forward network, each with a residual
    connection and a normalization.

        x = norm1(x + attention(x));          x = norm2(x + feed_forward(x))
        x = x + attention(norm1(x));          x = x + feed_forward(norm2(x))         with norm_first

        feed_forward(x) = linear2(dropout(activation(linear1(x))))

    Source: Vaswani et al., Attention is all you need (2017).

    Args:
        d_model: the number of features of input and output
        nhead: the number of heads of attention, which must divide `d_model`
        dim_feedforward: the number of features inside the feed-forward network; default 2048
        dropout: the probability of dropout in training, in attention, feed-forward network and residual
            connections; default 0.1
        activation: 'relu', 'gelu' or a function; default ReLU
        layer_norm_eps: the eps of the normalizations; default 1e-5
        batch_first: whether the batch is the first dimension; default False
        norm_first: whether to normalize before attention and feed-forward network instead of after the sums;
            default False
        bias: whether linear layers and normalizations have a bias; default True
        device, dtype: those of the parameters

    The layer is called with `src` and optionally `src_mask` (S, S), `src_key_padding_mask` (N, S) and
    `is_causal`, which are those of `MultiheadAttention`.

    Shape:
        Input: (S, N, d_model), (N, S, d_model) with `batch_first`, or (S, d_model).
        Output: the same shape.

    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> layer(torch.randn(3, 5, 8)).shape
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
            d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **factory
        )

        self._add_feed_forward(d_model, dim_feedforward, dropout, bias, factory)
        self.norm_first = norm_first
        self._add_norms(2, d_model, layer_norm_eps, dropout, bias, factory)
        self.activation = _get_activation_fn(activation)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        src_key_padding_mask = canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", dtype_of_mask(src_mask), "src_mask", src.dtype
        )
        src_mask = canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)
        x = self._residual(
            src, self.norm1, lambda y: self._sa_block(y, src_mask, src_key_padding_mask, is_causal)
        )
        return self._residual(x, self.norm2, self._ff_block)

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        x = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )[0]
        return self.dropout1(x)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerEncoder(Module):
    """Applies copies of an encoder layer one after another, and a normalization at the end if there is one.

    Args:
        encoder_layer: the layer that is copied; all copies start with equal parameters
        num_layers: the number of copies
        norm: a normalization of the output; default None
        enable_nested_tensor: whether padded positions become zeros in inference, where they are left out;
            default True
        mask_check: whether the padding mask is checked for that; default True

    Shape:
        Input: (S, N, d_model), (N, S, d_model) with `batch_first`, or (S, d_model).
        Output: the same shape.

    Example:
        >>> layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        >>> encoder = nn.TransformerEncoder(layer, num_layers=2)
        >>> encoder(torch.randn(3, 5, 8)).shape
        torch.Size([3, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = copies(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check

        reason = _why_padding_stays(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not reason
        if enable_nested_tensor and reason:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}",
                stacklevel=2,
            )

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        src_key_padding_mask = canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", dtype_of_mask(mask), "mask", src.dtype
        )
        mask = canonical_mask(mask, "mask", None, "", src.dtype, False)
        is_causal = detect_causal(mask, is_causal, None)

        output = src
        for layer in self.layers:
            output = layer(
                output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=src_key_padding_mask
            )

        if src_key_padding_mask is not None and self._leaves_out_padding(src, mask, src_key_padding_mask):
            output = output.masked_fill(src_key_padding_mask.bool().unsqueeze(-1), 0)
        return output if self.norm is None else self.norm(output)

    def _leaves_out_padding(self, src: Tensor, mask: Tensor | None, padding: Tensor) -> bool:
        """Returns whether padded positions become zeros, as in PyTorch where inference leaves them out."""
        # Imported on first use: few programs ask for the switch.
        from torch_py.backends import mha

        layer = self.layers[0] if len(self.layers) else None
        if not self.use_nested_tensor or mask is not None:
            return False
        if not isinstance(layer, TransformerEncoderLayer) or layer.training:
            return False
        if src.dim() != 3 or not mha.get_fastpath_enabled() or _C.is_autocast_enabled(src.device.type):
            return False
        learns = src.requires_grad or any(parameter.requires_grad for parameter in layer.parameters())
        if _C.is_grad_enabled() and learns:
            return False

        is_padded = padding.bool()
        resumes = is_padded[:, :-1] & ~is_padded[:, 1:]  # an element after padding
        return not self.mask_check or not bool(resumes.any())


def _why_padding_stays(layer: Module) -> str:
    """Returns the reason why an encoder of this layer cannot leave out padding, or ''."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"

    attention = layer.self_attn
    reasons = {
        "encoder_layer.norm_first was True": layer.norm_first,
        "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference "
        "performance)": not attention.batch_first,
        "encoder_layer.self_attn was passed bias=False": attention.in_proj_bias is None,
        "encoder_layer.self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        "encoder_layer.activation_relu_or_gelu was not True": not _is_relu_or_gelu(layer.activation),
        "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps
        != layer.norm2.eps,
        "encoder_layer.self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }

    return next((reason for reason, holds in reasons.items() if holds), "")


def _is_relu_or_gelu(activation: Activation) -> bool:
    return activation in (F.relu, F.gelu) or isinstance(activation, (ReLU, GELU))
