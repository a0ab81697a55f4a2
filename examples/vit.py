"""A vision transformer (Dosovitskiy et al. 2021) on handwritten digits, with layers of torch.nn.

python examples/vit.py [--steps 200] [--small]
"""

from __future__ import annotations

from collections.abc import Iterator

from running import Prepare, as_it_is, train
from sklearn.datasets import load_digits

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class ViT(nn.Module):
    def __init__(self, size: int, patch: int, width: int, layers: int, classes: int) -> None:
        super().__init__()
        self.patches = nn.Conv2d(1, width, patch, patch)
        self.token = nn.Parameter(torch.zeros(1, 1, width))
        self.position = nn.Parameter(0.02 * torch.randn(1, (size // patch) ** 2 + 1, width))
        layer = nn.TransformerEncoderLayer(
            width, 4, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, images):
        x = self.patches(images).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.position
        return self.head(self.encoder(x)[:, 0])


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    torch.manual_seed(0)
    digits = load_digits()
    images, labels = torch.from_numpy(digits.images).float()[:, None] / 16, torch.from_numpy(digits.target)

    model = prepare(ViT(8, 2, 32, 1, 10) if small else ViT(8, 2, 96, 4, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)

    while True:
        for rows in torch.randperm(len(images)).split(32 if small else 128):
            loss = F.cross_entropy(model(images[rows]), labels[rows], label_smoothing=0.1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.item()


if __name__ == "__main__":
    train(__doc__, training, 200)
