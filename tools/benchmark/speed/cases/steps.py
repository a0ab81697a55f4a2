"""Whole training steps and inferences of small models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..case import Case, Group


def trained(t: Any, network: Any, inputs: Any, labels: Any, autocast: bool = False) -> Callable[[], Any]:
    """Forward, cross entropy, backward and a step of Adam."""
    optimizer = t.optim.Adam(network.parameters(), 1e-4)

    def step() -> None:
        optimizer.zero_grad()
        with t.autocast("cpu", t.bfloat16, enabled=autocast):
            loss = t.nn.functional.cross_entropy(network(inputs).flatten(0, -2), labels)
        loss.backward()
        optimizer.step()

    return step


def network_of_layers(t: Any, x: Any) -> Callable[[], Any]:
    nn = t.nn
    network = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    return trained(t, network, x(32, 64), t.arange(32) % 10)


def small_images(t: Any, x: Any) -> Callable[[], Any]:
    nn = t.nn
    network = nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 49, 10),
    )
    return trained(t, network, x(64, 1, 28, 28), t.arange(64) % 10)


def large_images(t: Any, x: Any) -> Callable[[], Any]:
    nn = t.nn

    def block(channels: int, outputs: int) -> list[Any]:
        return [nn.Conv2d(channels, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]

    network = nn.Sequential(
        nn.Conv2d(3, 32, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(2),
        *block(32, 32), *block(32, 64), nn.MaxPool2d(2), *block(64, 64), *block(64, 64),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip
    return trained(t, network, x(4, 3, 224, 224), t.arange(4) % 10)


def transformer(
    t: Any, x: Any, width: int, layers: int, batch: int, length: int, autocast: bool = False
) -> Callable[[], Any]:
    nn = t.nn
    blocks = [
        nn.TransformerEncoderLayer(
            width, width // 64, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
        )
        for _ in range(layers)
    ]
    network = nn.Sequential(*blocks, nn.Linear(width, 64))
    return trained(t, network, x(batch, length, width), t.arange(batch * length) % 64, autocast)


def lstm_inference(t: Any, x: Any) -> Callable[[], Any]:
    network, inputs = t.nn.LSTM(64, 128, batch_first=True), x(16, 32, 64)
    return lambda: network(inputs)


def gru_training(t: Any, x: Any) -> Callable[[], Any]:
    network, inputs = t.nn.GRU(64, 128, batch_first=True), x(16, 32, 64)
    return lambda: network(inputs)[0].sum().backward()


def adam(t: Any, x: Any) -> Callable[[], Any]:
    parameters = [t.nn.Parameter(x(256, 256)) for _ in range(32)]
    for parameter in parameters:
        parameter.grad = x(256, 256)
    return t.optim.Adam(parameters, 1e-4).step


GROUP = Group(
    "steps",
    mean_goal=0.45,
    worst_goal=0.8,
    cases=(
        Case("MLP, batch 32", network_of_layers),
        Case("CNN, 28 px, batch 64", small_images),
        Case("CNN, 224 px, batch 4", large_images),
        Case("GPT block, 2 x 256 x 256", lambda t, x: transformer(t, x, 256, 1, 2, 256)),
        Case(
            "GPT, 4 blocks, 8 x 128 x 384",
            lambda t, x: transformer(t, x, 384, 4, 8, 128),
            flops=6.0 * 1024 * 4 * 12 * 384**2,
        ),
        Case(
            "GPT block under autocast",
            lambda t, x: transformer(t, x, 384, 1, 8, 128, True),
            flops=6.0 * 1024 * 12 * 384**2,
            dtype="bfloat16",
        ),
        Case("LSTM", lstm_inference),
        Case("GRU, trained", gru_training),
        Case("Adam, 32 tensors", adam, bytes=28.0 * 32 * 256**2),
    ),
)
