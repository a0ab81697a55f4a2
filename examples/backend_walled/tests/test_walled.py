"""The device does what a device of torch_py does, and trains a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import walled
import walled.samples

import torch_py as torch
from torch_py import nn
from torch_py.testing.operators import BackendTests


class TestWalled(BackendTests):
    package = walled


class Digits(nn.Module):
    """Images (N, 1, 8, 8) to scores of ten digits."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()
        )
        self.scores = nn.Linear(8 * 4 * 4, 10)

    def forward(self, images: Any) -> Any:
        return self.scores(self.features(images))


def digits() -> tuple[Any, Any]:
    """Pictures of bars at ten places, with noise: what the digits of scikit-learn are to its users."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 10, 512)
    images = random.normal(0, 0.3, (512, 1, 8, 8))
    for image, label in zip(images, labels):
        image[0, label % 5 : label % 5 + 3, 4 * (label // 5) : 4 * (label // 5) + 3] += 1
    return torch.from_numpy(images).float(), torch.from_numpy(labels)


def train(device: str) -> tuple[list[float], float]:
    """The loss of every step, and the share of right answers afterwards."""
    torch.manual_seed(0)
    images, labels = (tensor.to(device) for tensor in digits())
    model = Digits().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    losses = []
    for _ in range(3):
        for start in range(0, 384, 64):
            loss = nn.functional.cross_entropy(model(images[start : start + 64]), labels[start : start + 64])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())

    model.eval()
    right = (model(images[384:]).argmax(1) == labels[384:]).float().mean()
    return losses, right.item()


def test_trains_as_the_cpu_does():
    walled.reset_host_fallbacks()
    losses, right = train("walled")
    expected, _ = train("cpu")

    assert right > 0.9
    assert np.allclose(losses, expected, rtol=1e-3, atol=1e-4)
    # The rest of the network has kernels here.
    missing = {"convolution", "convolution_backward", "_batch_norm_train", "_max_pool", "nll_loss_forward"}
    assert missing <= set(walled.host_fallbacks())
    assert not {"relu", "_threshold_backward", "_log_softmax", "copy_"} & set(walled.host_fallbacks())
