"""What the training examples share: their command line, and the losses they print while they train.

An example defines `training(small)`, a generator that yields the loss of every step, first builds model and
data, and knows nothing of this file's options; so a test, a benchmark or a notebook can drive it as well.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator


def train(description: str, training: Callable[[bool], Iterator[float]], steps: int) -> list[float]:
    """Runs an example from its command line; the losses of all steps."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--steps", type=int, default=steps, help=f"training steps (default {steps})")
    parser.add_argument("--small", action="store_true", help="a model and data small enough for a test")
    options = parser.parse_args()

    shown = max(1, options.steps // 10)
    losses: list[float] = []
    start = time.perf_counter()

    for step, loss in enumerate(itertools.islice(training(options.small), options.steps), 1):
        losses.append(loss)
        if step == 1 or step % shown == 0 or step == options.steps:
            recent = losses[-shown:]
            print(
                f"step {step:5d}  loss {sum(recent) / len(recent):8.4f}  "
                f"{(time.perf_counter() - start) / step * 1e3:7.1f} ms a step",
                flush=True,
            )

    return losses
