"""Transformer encoders and decoders: stacks of attention and feed-forward layers (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from torch_py import _C
from torch_py._C import _torch
from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.functional._attention import canonical_mask, dtype_of_mask
from torch_py.nn.modules.activation import GELU, MultiheadAttention, ReLU
from torch_py.nn.modules.container import ModuleList
from torch_py.nn.modules.dropout import Dropout
from torch_py.nn.modules.linear import Linear
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import LayerNorm
from torch_py.types import Device, _dtype

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Activation = Callable[[Tensor], Tensor]


def _causal_mask(size: int, device: Device = None, dtype: _dtype | None = None) -> Tensor:
    """Returns -inf above the diagonal, where a key is later than the query, and 0 elsewhere."""
    return _torch.full(
        (size, size), float("-inf"), dtype=dtype or _C.get_default_dtype(), device=device
    ).triu(1)


def _is_causal(mask: Tensor | None, is_causal: bool | None, size: int | None) -> bool:
    """Returns `is_causal` if given, otherwise whether `mask` hides exactly the later positions."""
    if is_causal is not None:
        return is_causal is True
    if mask is None or (size is not None and mask.shape[-1] != size):
        return False
    if mask.dim() != 2 or mask.shape[0] != mask.shape[1]:
        return False

    if mask.is_floating_point():
        causal = _causal_mask(mask.shape[0], mask.device, mask.dtype)
    else:
        causal = _causal_mask(mask.shape[0], mask.device).isinf()
    return bool((mask == causal).all())


def _get_activation_fn(activation: str | Activation) -> Activation:
    """Returns the activation function with this name. Raises RuntimeError for an unknown name."""
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


class _Layer(Module):
    """Base of the encoder and decoder layers."""

    norm_first: bool
    linear1: Linear
    linear2: Linear
    dropout: Dropout
    activation: Activation

    def _add_feed_forward(
        self, d_model: int, dim_feedforward: int, dropout: float, bias: bool, factory: dict[str, Any]
    ) -> None:
        """Adds the two linear layers and the dropout between them."""
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)

    def _add_norms(
        self, count: int, d_model: int, eps: float, dropout: float, bias: bool, factory: dict[str, Any]
    ) -> None:
        """Adds `norm1`, `norm2`, ... and `dropout1`, `dropout2`, ..."""
        for number in range(1, count + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=eps, bias=bias, **factory))
        for number in range(1, count + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))

    def _residual(self, x: Tensor, norm: Module, block: Callable[[Tensor], Tensor]) -> Tensor:
        """Returns the sum of the input and of a block, normalized: before the block with `norm_first`,
        otherwise after the sum."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu


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


def _copies(module: Module, count: int) -> ModuleList:
    """Returns `count` deep copies of a module."""
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


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
        self.layers = _copies(encoder_layer, num_layers)
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
        is_causal = _is_causal(mask, is_causal, None)

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
        self.layers = _copies(decoder_layer, num_layers)
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
        tgt_is_causal = _is_causal(tgt_mask, tgt_is_causal, None)
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


class Transformer(Module):
    """An encoder of the source sequence, and a decoder of the target sequence that attends to the encoder's
    output.

    Embeddings, positions and the projection to words are left to the model. Matrices start with
    `init.xavier_uniform_`.

    Source: Vaswani et al., Attention is all you need (2017).

    Args:
        d_model: the number of features of inputs and output; default 512
        nhead: the number of heads of attention, which must divide `d_model`; default 8
        num_encoder_layers: the number of layers of the encoder; default 6
        num_decoder_layers: the number of layers of the decoder; default 6
        dim_feedforward: the number of features inside feed-forward networks; default 2048
        dropout: the probability of dropout in training; default 0.1
        activation: 'relu', 'gelu' or a function; default ReLU
        custom_encoder: a module to use as the encoder; default None
        custom_decoder: a module to use as the decoder; default None
        layer_norm_eps: the eps of the normalizations; default 1e-5
        batch_first: whether the batch is the first dimension; default False
        norm_first: whether layers normalize before each part instead of after the sums; default False
        bias: whether linear layers and normalizations have a bias; default True
        device, dtype: those of the parameters

    Shape:
        src: (S, N, d_model), (N, S, d_model) with `batch_first`, or (S, d_model).
        tgt: (T, N, d_model), (N, T, d_model) with `batch_first`, or (T, d_model).
        Output: the shape of `tgt`.

    Example:
        >>> model = nn.Transformer(
        ...     d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, dim_feedforward=16
        ... )
        >>> mask = model.generate_square_subsequent_mask(5)
        >>> model(torch.randn(7, 3, 8), torch.randn(5, 3, 8), tgt_mask=mask).shape
        torch.Size([5, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str | Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Device = None,
        dtype: _dtype | None = None,
    ) -> None:
        super().__init__()
        factory: dict[str, Any] = {"device": device, "dtype": dtype}
        layer = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
        )
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            encoder_layer = TransformerEncoderLayer(*layer, **factory)
            self.encoder = TransformerEncoder(
                encoder_layer,
                num_encoder_layers,
                LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory),
            )
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder_layer = TransformerDecoderLayer(*layer, **factory)
            self.decoder = TransformerDecoder(
                decoder_layer,
                num_decoder_layers,
                LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **factory),
            )

        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        batch_dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_dim) != tgt.size(batch_dim):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")

        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )

        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Device = None, dtype: _dtype | None = None
    ) -> Tensor:
        """Returns a mask (sz, sz) to add to scores: -inf where a key is later than the query, 0 elsewhere."""
        return _causal_mask(sz, device, dtype)
