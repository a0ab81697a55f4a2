"""How models of packages are trained: `models/PACKAGE.py` says which, this is the loop.

A program is a function of `prepare` that yields the loss of each step; `prepare` gets the model before the
first step and returns what is called in its place. The last steps have other batch sizes than the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

Prepare = Callable[[Any], Any]
BATCHES = (4, 4, 4, 4, 4, 4, 3, 5)


@dataclass(frozen=True)
class Model:
    """`make()` is a module and `inputs(batch)` the arguments of a call."""

    make: Callable[[], Any]
    inputs: Callable[[int], tuple[Any, ...]]
    rate: float = 0.01


def training(model: Model, prepare: Prepare) -> Iterator[float]:
    torch.manual_seed(0)
    module = model.make()
    optimizer = torch.optim.SGD(module.parameters(), lr=model.rate)
    called = prepare(module)

    for batch in BATCHES:
        loss = size_of(called(*model.inputs(batch)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def size_of(result: Any) -> torch.Tensor:
    """The mean square of all tensors of a result that have a gradient."""
    terms = [tensor.square().mean() for tensor in tensors_in(result) if tensor.requires_grad]
    return torch.stack(terms).sum()


def tensors_in(result: Any) -> list[torch.Tensor]:
    if isinstance(result, torch.Tensor):
        return [result]
    if hasattr(result, "values"):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [tensor for item in result for tensor in tensors_in(item)]
    return []
