"""What the training examples share: their command line, and the losses they print while they train.

An example defines `training(small, prepare)`, a generator that yields the loss of every step, first builds
model and data, and knows nothing of this file's options; so a test, a benchmark or a notebook can drive it as
well. `prepare` gets the model before the first step, and returns what is called in its place.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch_py as torch

Prepare = Callable[[Any], Any]


def as_it_is(model: Any) -> Any:
    return model


def train(description: str, training: Callable[[bool, Prepare], Iterator[float]], steps: int) -> list[float]:
    """Runs an example from its command line; the losses of all steps."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--steps", type=int, default=steps, help=f"training steps (default {steps})")
    parser.add_argument("--small", action="store_true", help="a model and data small enough for a test")
    parser.add_argument(
        "--compile",
        nargs="?",
        const="inductor",
        metavar="BACKEND",
        help="compile the model with torch.compile (backend inductor)",
    )
    options = parser.parse_args()
    backend = options.compile
    prepare = functools.partial(torch.compile, backend=backend) if backend else as_it_is

    shown = max(1, options.steps // 10)
    losses: list[float] = []
    start = time.perf_counter()

    for step, loss in enumerate(itertools.islice(training(options.small, prepare), options.steps), 1):
        losses.append(loss)
        if step == 1 or step % shown == 0 or step == options.steps:
            recent = losses[-shown:]
            print(
                f"step {step:5d}  loss {sum(recent) / len(recent):8.4f}  "
                f"{(time.perf_counter() - start) / step * 1e3:7.1f} ms a step",
                flush=True,
            )

    return losses
