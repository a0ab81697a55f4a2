"""Layers of einops between others."""

import torch
from einops import rearrange, reduce, repeat
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn
from training import Model


class Functions(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(12, 6)

    def forward(self, images):
        patches = rearrange(images, "b c (h p) (w q) -> b (h w) (c p q)", p=2, q=2)
        pooled = reduce(self.linear(patches), "b t c -> b c", "max")
        return repeat(pooled, "b c -> b c k", k=3)


def layers():
    return nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1),
        Rearrange("b c h w -> b (h w) c"),
        EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=6, d=5),
        nn.GELU(),
        Reduce("b t d -> b d", "mean"),
    )


def images(batch):
    return (torch.randn(batch, 3, 8, 8),)


MODELS = {"functions": Model(Functions, images), "layers": Model(layers, images)}
