"""A generative adversarial network of convolutions (Radford et al. 2016) that learns to draw digits.

python examples/dcgan.py [--steps 200] [--small]
"""

from __future__ import annotations

from collections.abc import Iterator

from running import Prepare, as_it_is, train
from sklearn.datasets import load_digits

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F

LATENT = 32


def generator(width: int) -> nn.Module:
    return nn.Sequential(
        nn.ConvTranspose2d(LATENT, 4 * width, 4, bias=False),
        nn.BatchNorm2d(4 * width),
        nn.ReLU(True),
        nn.ConvTranspose2d(4 * width, 2 * width, 4, 2, 1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(True),
        nn.ConvTranspose2d(2 * width, 1, 4, 2, 1),
        nn.Tanh(),
    )


def discriminator(width: int) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, width, 4, 2, 1),
        nn.LeakyReLU(0.2, True),
        nn.Conv2d(width, 2 * width, 4, 2, 1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.LeakyReLU(0.2, True),
        nn.Conv2d(2 * width, 1, 4),
        nn.Flatten(0),
    )


def start(module: nn.Module) -> None:
    """The paper's initial values."""
    if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        nn.init.normal_(module.weight, 0.0, 0.02)
    elif isinstance(module, nn.BatchNorm2d):
        nn.init.normal_(module.weight, 1.0, 0.02)


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    """The loss of the discriminator: 1.39 when it cannot tell."""
    torch.manual_seed(0)
    images = torch.from_numpy(load_digits().images).float()[:, None] / 8 - 1
    images = F.interpolate(images, size=16, mode="bilinear", align_corners=False)

    width, batch = (4, 16) if small else (32, 64)
    draw, judge = generator(width).apply(start), discriminator(width).apply(start)
    optimizers = [torch.optim.Adam(each.parameters(), lr=2e-4, betas=(0.5, 0.999)) for each in (draw, judge)]
    draw, judge = prepare(draw), prepare(judge)
    ones, zeros = torch.ones(batch), torch.zeros(batch)

    while True:
        real = images[torch.randint(len(images), (batch,))]
        fake = draw(torch.randn(batch, LATENT, 1, 1))
        verdict = F.binary_cross_entropy_with_logits(judge(real), ones) + F.binary_cross_entropy_with_logits(
            judge(fake.detach()), zeros
        )

        optimizers[1].zero_grad()
        verdict.backward()
        optimizers[1].step()

        deceit = F.binary_cross_entropy_with_logits(judge(fake), ones)
        optimizers[0].zero_grad()
        deceit.backward()
        optimizers[0].step()
        yield verdict.item()


if __name__ == "__main__":
    train(__doc__, training, 200)
