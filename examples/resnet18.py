"""ResNet-18 (He et al. 2016) on pictures that are made in place: which of ten textures is it?

python examples/resnet18.py [--steps 30] [--small]
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from running import Prepare, as_it_is, train

import torch_py as torch
from torch_py import nn
from torch_py.nn import functional as F


class BasicBlock(nn.Module):
    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        x = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(x)) + shortcut)


class ResNet18(nn.Module):
    """Parameters have torchvision's names, so its checkpoints load."""

    def __init__(self, classes: int, width: int = 64) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)

        inputs = width
        for number in range(4):
            outputs = width << number
            blocks = [BasicBlock(inputs, outputs, 1 if number == 0 else 2), BasicBlock(outputs, outputs, 1)]
            self.add_module(f"layer{number + 1}", nn.Sequential(*blocks))
            inputs = outputs

        self.fc = nn.Linear(inputs, classes)

        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 3, 2, 1)
        for number in range(4):
            x = self.get_submodule(f"layer{number + 1}")(x)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def textures(count: int, size: int):
    """Stripes at ten angles, of random widths, phases and colours, with noise."""
    labels = torch.randint(10, (count,))
    angle = labels * (math.pi / 10)
    rows, columns = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    along = columns * angle.cos()[:, None, None] + rows * angle.sin()[:, None, None]
    frequency, phase = 0.3 + 0.5 * torch.rand(count, 1, 1), 6.3 * torch.rand(count, 1, 1)
    stripes = torch.sin(along * frequency + phase)[:, None] * torch.rand(count, 3, 1, 1)
    return stripes + 0.3 * torch.randn(count, 3, size, size), labels


def training(small: bool = False, prepare: Prepare = as_it_is) -> Iterator[float]:
    torch.manual_seed(0)
    size, batch, width = (32, 8, 8) if small else (112, 16, 64)
    model = prepare(ResNet18(10, width))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4, nesterov=True)
    while True:
        images, labels = textures(batch, size)
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


if __name__ == "__main__":
    train(__doc__, training, 30)
