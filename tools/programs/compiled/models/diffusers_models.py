"""U-Nets and autoencoders of diffusers."""

import torch
from diffusers import AutoencoderKL, UNet2DConditionModel, UNet2DModel
from training import Model

SIZES = {"layers_per_block": 1, "block_out_channels": (16, 32), "norm_num_groups": 8, "attention_head_dim": 8}


def unconditional():
    return UNet2DModel(
        sample_size=16,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        **SIZES,
    )


def conditional():
    return UNet2DConditionModel(
        sample_size=8,
        cross_attention_dim=8,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        **SIZES,
    )


def autoencoder():
    return AutoencoderKL(block_out_channels=(16,), norm_num_groups=8, latent_channels=2, sample_size=16)


MODELS = {
    "UNet2DModel": Model(
        unconditional, lambda batch: (torch.randn(batch, 3, 16, 16), torch.randint(0, 50, (batch,)))
    ),
    "UNet2DConditionModel": Model(
        conditional, lambda batch: (torch.randn(batch, 4, 8, 8), 3, torch.randn(batch, 5, 8))
    ),
    "AutoencoderKL": Model(autoencoder, lambda batch: (torch.randn(batch, 3, 16, 16),)),
}
