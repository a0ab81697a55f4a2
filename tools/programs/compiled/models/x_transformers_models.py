"""Decoders and encoders of x-transformers."""

import torch
from training import Model
from x_transformers import (
    AutoregressiveWrapper,
    ContinuousTransformerWrapper,
    Decoder,
    Encoder,
    TransformerWrapper,
    ViTransformerWrapper,
    XTransformer,
)


def language():
    layers = Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)
    return AutoregressiveWrapper(TransformerWrapper(num_tokens=50, max_seq_len=32, attn_layers=layers))


def series():
    layers = Encoder(dim=32, depth=1, heads=4, alibi_pos_bias=True)
    return ContinuousTransformerWrapper(dim_in=4, dim_out=3, max_seq_len=20, attn_layers=layers)


def images():
    layers = Encoder(dim=32, depth=1, heads=4)
    return ViTransformerWrapper(image_size=16, patch_size=4, num_classes=5, attn_layers=layers)


def both():
    sizes = {"num_tokens": 20, "depth": 1, "heads": 2, "max_seq_len": 10}
    encoder = {f"enc_{name}": value for name, value in sizes.items()}
    decoder = {f"dec_{name}": value for name, value in sizes.items()}
    return XTransformer(dim=32, **encoder, **decoder)


MODELS = {
    "decoder with rotary positions": Model(language, lambda batch: (torch.randint(0, 50, (batch, 17)),)),
    "encoder of a series": Model(series, lambda batch: (torch.randn(batch, 20, 4),)),
    "vision transformer": Model(images, lambda batch: (torch.randn(batch, 3, 16, 16),)),
    "encoder and decoder": Model(
        both, lambda batch: (torch.randint(0, 20, (batch, 10)), torch.randint(0, 20, (batch, 10)))
    ),
}
