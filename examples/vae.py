"""A variational autoencoder (Kingma & Welling 2014) of handwritten digits.

python examples/vae.py [--steps 400] [--small]
"""

from __future__ import annotations

from collections.abc import Iterator

from running import Prepare, as_it_is, train
from sklearn.datasets import load_digits

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class VAE(nn.Module):
    def __init__(self, pixels: int, hidden: int, latent: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Linear(pixels, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.mean = nn.Linear(hidden, latent)
        self.log_variance = nn.Linear(hidden, latent)
        self.decoder = nn.Sequential(
            nn.Linear(latent, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, pixels),
        )

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.decoder(z), mean, log_variance


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    """The negative evidence lower bound, in nats for each image."""
    torch.manual_seed(0)

    images = torch.from_numpy(load_digits().images).float().flatten(1) / 16
    model = prepare(VAE(64, 64 if small else 512, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batch = 32 if small else 256

    while True:
        for rows in torch.randperm(len(images)).split(batch):
            logits, mean, log_variance = model(images[rows])
            reconstruction = F.binary_cross_entropy_with_logits(logits, images[rows], reduction="sum")
            divergence = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum()
            loss = (reconstruction + divergence) / len(rows)

            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.item()


if __name__ == "__main__":
    train(__doc__, training, 400)
