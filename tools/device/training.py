"""Trains networks on a GPU with both libraries, from the same weights: `python -m tools.device.training`.

Losses are to agree step by step; then the time and the memory of a step of a larger one are compared.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from typing import Any

import numpy as np

import torch_py

_VOCABULARY = 96
_STEPS = 30


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


def with_weights(torch: Any, network: Any) -> Any:
    """The network on the device with weights that depend on their names and sizes only."""
    with torch.no_grad():
        for number, (name, parameter) in enumerate(network.named_parameters()):
            if name.startswith(("norm", "blocks")) and "norm" in name:
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


def step_time(torch: Any, dtype: str) -> tuple[float, float]:
    """Milliseconds for a step of a network of 12 layers, and the most gigabytes it takes."""
    context, batch = 512, 8
    network = with_weights(torch, gpt(torch, 12, 768, 12, context))
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-4)
    (tokens, targets), *_ = batches(torch, 1, batch, context)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cuda", getattr(torch, dtype), enabled=dtype != "float32"):
            loss = network(tokens, targets)
        loss.backward()
        optimizer.step()

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
    ours = losses(torch_py)
    print("losses:", *(f"{loss:.4f}" for loss in ours[:: _STEPS // 6]), flush=True)
    print("on the host:", dict(torch_py.cuda.host_fallbacks()), flush=True)
    if importlib.util.find_spec("torch") is None:
        return 0

    peer = importlib.import_module("torch")
    theirs = losses(peer)
    worst = max(abs(a - b) / b for a, b in zip(ours, theirs, strict=True))
    print(f"against PyTorch: largest relative difference {worst:.1e}", flush=True)
    for dtype in ("float32", "bfloat16"):
        for name, torch in (("torch_py", torch_py), ("PyTorch", peer)):
            milliseconds, gigabytes = step_time(torch, dtype)
            torch.cuda.empty_cache()
            print(f"12 layers, {dtype}, {name}: {milliseconds:.1f} ms, {gigabytes:.2f} GB", flush=True)
    return int(worst > 1e-3)


if __name__ == "__main__":
    sys.exit(main())
