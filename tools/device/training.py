"""Trains networks on a GPU with both libraries, from the same weights: `python -m tools.device.training`.

Losses are to agree step by step; then the time and the memory of a step of a larger one are compared.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import torch_py

from .stages import keep

_VOCABULARY = 96
_STEPS = 30
# Losses are compared while differences of rounding are small: two of PyTorch's own ways to convolve
# differ by 1e-4 after 8 steps of the CNN, and by 1e-2 after 24.
_COMPARED = 8
_MOST_DIFFERENCE = 1e-3


def gpt(torch: Any, layers: int, width: int, heads: int, context: int) -> Any:
    """A language model of pre-norm blocks, for the module `torch` or `torch_py`."""
    nn = torch.nn
    F = nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
            self.inwards = nn.Linear(width, 3 * width)
            self.outwards = nn.Linear(width, width)
            self.up = nn.Linear(width, 4 * width)
            self.down = nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            batch, length, _ = x.shape
            q, k, v = self.inwards(self.norms[0](x)).split(width, dim=2)
            q, k, v = (t.view(batch, length, heads, -1).transpose(1, 2) for t in (q, k, v))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.outwards(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.down(F.gelu(self.up(self.norms[1](x))))

    class Network(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(_VOCABULARY, width)
            self.places = nn.Embedding(context, width)
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm = nn.LayerNorm(width)
            self.head = nn.Linear(width, _VOCABULARY)

        def forward(self, tokens: Any, targets: Any) -> Any:
            places = torch.arange(tokens.shape[1], device=tokens.device)
            x = self.tokens(tokens) + self.places(places)
            for block in self.blocks:
                x = block(x)
            return F.cross_entropy(self.head(self.norm(x)).view(-1, _VOCABULARY), targets.view(-1))

    return Network()


def cnn(torch: Any, width: int) -> Any:
    """Convolutions in residual blocks, for images of three channels and ten classes."""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, channels: int, outputs: int) -> None:
            super().__init__()
            self.first = nn.Conv2d(channels, outputs, 3, 2, 1, bias=False)
            self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.past = nn.Conv2d(channels, outputs, 1, 2, bias=False)
            self.norms = nn.ModuleList(nn.BatchNorm2d(outputs) for _ in range(2))

        def forward(self, x: Any) -> Any:
            y = self.norms[0](self.first(x)).relu()
            return (self.norms[1](self.second(y)) + self.past(x)).relu()

    return nn.Sequential(
        nn.Conv2d(3, width, 3, padding=1),
        Block(width, width),
        Block(width, 2 * width),
        Block(2 * width, 4 * width),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4 * width, 10),
    )


def with_weights(torch: Any, network: Any) -> Any:
    """The network on the device with weights that depend on their names and sizes only."""
    with torch.no_grad():
        for number, (name, parameter) in enumerate(network.named_parameters()):
            if "norm" in name:
                continue
            values = np.random.default_rng(number).standard_normal(tuple(parameter.shape)) * 0.02
            parameter.copy_(torch.tensor(values.astype(np.float32)))
    return network.cuda()


def batches(torch: Any, count: int, batch: int, context: int) -> list[tuple[Any, Any]]:
    """Tokens that partly follow from those before them."""
    draws = np.random.default_rng(0)
    steps = draws.integers(1, 4, (count, batch, context + 1)).cumsum(2) % _VOCABULARY
    tensors = [torch.tensor(step.astype(np.int64)).cuda() for step in steps]
    return [(tensor[:, :-1].contiguous(), tensor[:, 1:].contiguous()) for tensor in tensors]


def losses(torch: Any) -> list[float]:
    context = 64
    network = with_weights(torch, gpt(torch, 2, 128, 4, context))
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3)
    found = []
    for tokens, targets in batches(torch, _STEPS, 16, context):
        optimizer.zero_grad()
        loss = network(tokens, targets)
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return [loss.item() for loss in found]


def cnn_losses(torch: Any) -> list[float]:
    network = with_weights(torch, cnn(torch, 16))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    draws = np.random.default_rng(1)
    images = torch.tensor(draws.standard_normal((128, 3, 32, 32)).astype(np.float32)).cuda()
    labels = torch.tensor(draws.integers(0, 10, 128)).cuda()

    found = []
    for _ in range(_STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return [loss.item() for loss in found]


def gpt_step(torch: Any, dtype: str) -> Callable[[], None]:
    """A training step of 12 layers on 8 sequences of 512 tokens."""
    context = 512
    network = with_weights(torch, gpt(torch, 12, 768, 12, context))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
    (tokens, targets), *_ = batches(torch, 1, 8, context)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cuda", getattr(torch, dtype), enabled=dtype != "float32"):
            loss = network(tokens, targets)
        loss.backward()
        optimizer.step()

    return step


def cnn_step(torch: Any, dtype: str) -> Callable[[], None]:
    """A training step of the network of convolutions on 256 images of 64 x 64."""
    network = with_weights(torch, cnn(torch, 64))
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    images = torch.randn(256, 3, 64, 64, device="cuda")
    labels = torch.randint(10, (256,), device="cuda")

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cuda", getattr(torch, dtype), enabled=dtype != "float32"):
            loss = torch.nn.functional.cross_entropy(network(images), labels)
        loss.backward()
        optimizer.step()

    return step


def measured(torch: Any, step: Callable[[], None]) -> tuple[float, float]:
    """Milliseconds for a step, and the most gigabytes that it takes."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()

    times = []
    for _ in range(10):
        started = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - started)
    return 1e3 * sorted(times)[5], torch.cuda.max_memory_allocated() / 1e9


def main() -> int:
    torch_py.backends.cudnn.allow_tf32 = False  # so that losses can be compared
    networks = {"GPT": losses, "CNN": cnn_losses}
    ours = {name: learn(torch_py) for name, learn in networks.items()}
    for name, found in ours.items():
        print(f"{name}, losses:", *(f"{loss:.4f}" for loss in found[:: _STEPS // 6]), flush=True)
    print("on the host:", dict(torch_py.cuda.host_fallbacks()), flush=True)
    if importlib.util.find_spec("torch") is None:
        return 0

    peer = importlib.import_module("torch")
    peer.backends.cudnn.allow_tf32 = False
    differences = {}
    for name, learn in networks.items():
        differences[name] = max(
            (abs(a - b) / abs(b) for a, b in zip(ours[name][:_COMPARED], learn(peer))),
            key=lambda difference: math.inf if math.isnan(difference) else difference,
        )
        print(f"{name}: largest relative difference {differences[name]:.1e}", flush=True)

    keep("training", {"steps": _COMPARED, "differences": differences, "times": _times(peer)})
    return int(not all(difference <= _MOST_DIFFERENCE for difference in differences.values()))


def _times(peer: Any) -> list[dict[str, Any]]:
    rows = []
    for name, make in {"GPT": gpt_step, "CNN": cnn_step}.items():
        for dtype in ("float32", "bfloat16"):
            row: dict[str, Any] = {"name": f"{name}, {dtype}"}
            for library, torch in (("torch_py", torch_py), ("PyTorch", peer)):
                row[library] = measured(torch, make(torch, dtype))
                torch.cuda.empty_cache()
            print(row, flush=True)
            rows.append(row)
    return rows


if __name__ == "__main__":
    sys.exit(main())
