"""Trains models eagerly and under backends of torch.compile, and prints a line of JSON for each run.

python -m torch_py.as_torch stepping.py GROUP [NAME...]; the GROUP is "examples", or a file of `models/`. The
first line of a program is that of eager mode. With --trace, errors are not caught.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import itertools
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[3]
STEPS = 8
STEADY = slice(3, 6)  # when all is compiled, and before the batch size changes
EXAMPLES = (
    "char_gpt",
    "resnet18",
    "vit",
    "vae",
    "dcgan",
    "gcn",
    "lstm_language_model",
    "dqn",
    "physics_informed",
    "train_digits",
)
Steps = Callable[[Any], Iterator[float]]  # a function of `prepare` that yields the loss of each step


def programs_of(group: str) -> dict[str, Steps]:
    if group == "examples":
        sys.path.insert(0, str(ROOT / "examples"))
        return {name: example(name) for name in EXAMPLES}

    here = Path(__file__).parent
    sys.path[:0] = [str(here), str(here / "models"), str(here.parent / "scripts")]
    training = importlib.import_module("training").training
    models = importlib.import_module(group).MODELS
    return {name: functools.partial(training, model) for name, model in models.items()}


def example(name: str) -> Steps:
    module = importlib.import_module(name)
    return functools.partial(digits, module) if name == "train_digits" else functools.partial(steps, module)


def steps(module: Any, prepare: Any) -> Iterator[float]:
    return module.training(False, prepare)  # type: ignore[no-any-return]


def digits(module: Any, prepare: Any) -> Iterator[float]:
    torch.manual_seed(0)
    dataset, _ = module.load_data()
    yield from module.steps(prepare(module.DigitNet()), dataset, 1)


def measured(steps: Steps, prepare: Any) -> dict[str, Any]:
    """Losses, and the processor seconds of a step in the middle and of everything."""
    losses, taken = [], []
    start, spent = time.process_time(), processor_seconds()
    for loss in itertools.islice(steps(prepare), STEPS):
        losses.append(loss)
        taken.append(time.process_time() - start)
        start = time.process_time()

    return {
        "losses": losses,
        "step": min(taken[STEADY]),
        "seconds": processor_seconds() - spent,
    }


def processor_seconds() -> float:
    """Of this process and of the compilers that it has run."""
    return sum(os.times()[:4])


def compiled(steps: Steps, backend: str) -> dict[str, Any]:
    counters = torch._dynamo.utils.counters
    torch.compiler.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", "torch.compile:")
        found = measured(steps, functools.partial(torch.compile, backend=backend))
    return {
        **found,
        "warnings": sorted({str(warning.message)[:160] for warning in caught}),
        "graphs": counters["stats"]["unique_graphs"],
        "breaks": dict(counters["graph_break"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--backends", nargs="+", default=["aot_eager", "inductor"])
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_args()

    warnings.simplefilter("ignore")
    torch._dynamo.config.suppress_errors = not options.trace
    torch.set_num_threads(1)

    programs = programs_of(options.group)
    for name in options.names or programs:
        for backend in ("none", *options.backends):
            found = outcome(programs[name], backend, options.trace)
            print(json.dumps({"program": name, "backend": backend, **found}), flush=True)


def outcome(steps: Steps, backend: str, trace: bool) -> dict[str, Any]:
    try:
        return measured(steps, lambda model: model) if backend == "none" else compiled(steps, backend)
    except Exception as error:
        if trace:
            raise
        text = str(error).strip().splitlines()
        return {"problem": f"{type(error).__name__}: {text[0] if text else ''}"}


if __name__ == "__main__":
    main()
