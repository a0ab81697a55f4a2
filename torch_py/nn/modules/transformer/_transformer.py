"""A transformer: an encoder and a decoder (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.nn import functional as F
from torch_py.nn import init
from torch_py.nn.modules.module import Module
from torch_py.nn.modules.normalization import LayerNorm
from torch_py.nn.modules.transformer._decoder import TransformerDecoder, TransformerDecoderLayer
from torch_py.nn.modules.transformer._encoder import TransformerEncoder, TransformerEncoderLayer
from torch_py.nn.modules.transformer._layer import Activation
from torch_py.nn.modules.transformer._masks import causal_mask
from torch_py.types import Device, _dtype

__all__ = ["Transformer"]


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
        return causal_mask(sz, device, dtype)
