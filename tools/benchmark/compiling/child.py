"""python -m tools.benchmark.compiling.child LIBRARY FIGURE: measures one figure in a fresh process.

Prints JSON. What is measured in CPU seconds is the time of this process and its descendants after `mark`.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .models import MODELS, Model, gpt

# How many rounds a figure is the best of; those of single calls are short, as other programs interrupt them.
ROUNDS = 7
SHORT_ROUNDS = 150


def cpu_seconds() -> float:
    """Of this process and its children that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def seconds_of(statement: str, least: float = 0.002, **names: Any) -> float:
    """Of one call, without a function around it: the best of many rounds of at least `least` seconds."""
    timer = timeit.Timer(statement, globals=names)
    timer.timeit(3)
    count = max(1, int(least / max(timer.timeit(1), 1e-7)))
    return min(timer.timeit(count) / count for _ in range(SHORT_ROUNDS))


# Compile time: the parent subtracts `mark` from the time of all processes.


def first_compile(torch: Any) -> dict[str, Any]:
    x = torch.randn(1024)
    mark = cpu_seconds()
    torch.compile(lambda x: torch.relu(x * 2 + 1))(x)
    return {"mark": mark}


def gpt_inference(torch: Any) -> dict[str, Any]:
    model = gpt(torch, small=False, layers=12)
    mark = cpu_seconds()
    with torch.no_grad():
        torch.compile(model.function)(*model.arguments)
    return {"mark": mark}


def gpt_training(torch: Any) -> dict[str, Any]:
    model = gpt(torch, small=False, layers=12)
    mark = cpu_seconds()
    model.step(torch.compile(model.function))
    return {"mark": mark}


# The cost of calls, in seconds.


def guards(torch: Any) -> dict[str, Any]:
    """A call of a function that does nothing with two tensors and an int, next to an eager addition."""
    x, y = torch.ones(4), torch.ones(4)
    nothing = torch.compile(lambda x, y, n: x, backend="eager")
    return {
        "call": seconds_of("nothing(x, y, 3)", nothing=nothing, x=x, y=y),
        "add": seconds_of("add(x, y)", add=torch.add, x=x, y=y),
    }


def one_more_layer(torch: Any) -> dict[str, Any]:
    class Layer(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(4))
            self.is_used = False

        def forward(self, x: Any) -> Any:
            return x * self.scale if self.is_used else x

    def call_of(layers: int) -> float:
        x = torch.ones(4)
        compiled = torch.compile(torch.nn.Sequential(*[Layer() for _ in range(layers)]), backend="eager")
        with torch.no_grad():
            return seconds_of("compiled(x)", compiled=compiled, x=x)

    few, many = 4, 68
    return {"layer": (call_of(many) - call_of(few)) / (many - few)}


def training_call(torch: Any) -> dict[str, Any]:
    """Forward and backward of three operators on tiny tensors, and eagerly of a single one."""
    x, grad = torch.randn(4), torch.ones(4)
    w, b = (torch.randn(4, requires_grad=True) for _ in range(2))

    def step(run: Callable[..., Any], *arguments: Any) -> None:
        run(*arguments).backward(grad)
        w.grad = b.grad = None

    compiled = torch.compile(lambda x: torch.relu(x * w + b))
    found = {
        "compiled": seconds_of("step(compiled, x)", step=step, compiled=compiled, x=x),
        "addition": seconds_of("step(add, w, b)", step=step, add=torch.add, w=w, b=b),
    }
    return found | {"overhead": found["compiled"] - found["addition"]}


# Memory and imports.


def peak_memory(torch: Any) -> dict[str, Any]:
    """The bytes that a training step of the GPT needs at most, compiled and eager."""
    torch.manual_seed(0)
    model = gpt(torch, small=False)
    compiled = torch.compile(model.function)
    model.step(compiled)

    def peak_of(run: Callable[..., Any]) -> int:
        model.step(run)
        gc.collect()
        getattr(torch.cpu, "empty_cache", lambda: None)()
        ctypes.CDLL(None).malloc_trim(0)
        before = _status("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
        model.step(run)
        return _status("VmHWM") - before

    found = {"eager": peak_of(model.function), "compiled": peak_of(compiled)}
    return {**found, "ratio": found["compiled"] / max(found["eager"], 1)}


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) * 1024


def compiler_import(torch: Any) -> dict[str, Any]:
    """CPU seconds of what the first compilation imports, of which a forked process tells."""
    loaded = set(sys.modules)
    read, write = os.pipe()
    if os.fork() == 0:
        try:
            torch.compile(lambda x: torch.relu(x * 2 + 1))(torch.ones(4))
            os.write(write, "\n".join(name for name in sys.modules if name not in loaded).encode())
        finally:
            os._exit(0)

    os.close(write)
    with os.fdopen(read) as pipe:
        names = pipe.read().split()
    if not names:
        raise RuntimeError("the first compilation failed, or imported nothing")

    start = time.process_time()
    for name in names:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    return {"import": time.process_time() - start, "modules": len(names)}


def steady_state(torch: Any, name: str, small: bool) -> dict[str, Any]:
    """A step of a model, compiled and eager. The two take turns."""
    torch.manual_seed(0)
    model = MODELS[name](torch, small)
    compiled = torch.compile(model.function)

    with torch.set_grad_enabled(model.is_trained or name == "optimizer step"):
        runs = {"compiled": compiled, "eager": model.function}
        counts = {key: _repetitions(model, run) for key, run in runs.items()}
        best = dict.fromkeys(runs, float("inf"))
        for _ in range(ROUNDS):
            for key, run in runs.items():
                count = counts[key]
                seconds = timeit.timeit(lambda run=run: model.step(run), number=count) / count
                best[key] = min(best[key], seconds)
    return best


def _repetitions(model: Model, run: Callable[..., Any]) -> int:
    for _ in range(3):
        model.step(run)
    return max(1, int(0.1 / max(timeit.timeit(lambda: model.step(run), number=1), 1e-6)))


FIGURES: dict[str, Callable[[Any], dict[str, Any]]] = {
    "first": first_compile,
    "inference": gpt_inference,
    "training": gpt_training,
    "guards": guards,
    "layer": one_more_layer,
    "call": training_call,
    "memory": peak_memory,
    "import": compiler_import,
}


def main(library: str, figure: str, threads: int, small: bool) -> None:
    torch = importlib.import_module(library)
    torch.set_num_threads(threads)
    if figure in MODELS:
        found = steady_state(torch, figure, small)
    else:
        found = FIGURES[figure](torch)
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4] == "small")
