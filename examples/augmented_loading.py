"""Pictures made and distorted by worker processes while the main process trains on them.

python examples/augmented_loading.py [--steps 100] [--small]
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from running import Prepare, as_it_is, train
from sklearn.datasets import load_digits

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F
from torch_py.utils.data import DataLoader, Dataset


class DistortedDigits(Dataset):
    """Digits turned, scaled, moved and made noisy, differently every time they are read."""

    def __init__(self, size: int) -> None:
        digits = load_digits()
        images = torch.from_numpy(digits.images).float()[:, None] / 16
        self.images = F.interpolate(images, size=size, mode="bilinear", align_corners=False)
        self.labels = digits.target.tolist()

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int):
        angle = math.radians(40) * (torch.rand(()).item() - 0.5)
        scale = 0.8 + 0.4 * torch.rand(()).item()
        cos, sin = scale * math.cos(angle), scale * math.sin(angle)
        move_x, move_y = (0.3 * (torch.rand(2) - 0.5)).tolist()
        turn = torch.tensor([[[cos, -sin, move_x], [sin, cos, move_y]]])
        grid = F.affine_grid(turn, (1, *self.images.shape[1:]), align_corners=False)
        image = F.grid_sample(self.images[index : index + 1], grid, align_corners=False)[0]
        return image + 0.1 * torch.randn_like(image), self.labels[index]


def network(width: int) -> nn.Module:
    def stage(inputs: int, outputs: int) -> list[nn.Module]:
        return [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(
        *stage(1, width),
        *stage(width, 2 * width),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * width, 10),
    )


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    torch.manual_seed(0)
    dataset = DistortedDigits(16 if small else 28)

    loader = DataLoader(
        dataset,
        batch_size=32 if small else 64,
        shuffle=True,
        num_workers=2,
        persistent_workers=True,
        drop_last=True,
    )

    model = prepare(network(8 if small else 32))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

    while True:
        for images, labels in loader:
            loss = F.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss.item()


if __name__ == "__main__":
    train(__doc__, training, 100)
