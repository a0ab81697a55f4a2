"""Calls with extreme numbers and shapes, forward and backward, within limits of memory and time.

What a call costs follows from the sizes that it asks for: it computes, or refuses, or says that memory does
not suffice. The calls may end the process, so tests make them in a process of their own (`isolated.py`).
"""

from __future__ import annotations

import contextlib
import re
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.ops.calling import call, tensors_of
from tests.ops.extremes import extreme_samples
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput

_MEMORY_LIMIT = 160 << 20  # bytes above what is in use: larger tensors are refused, not filled
_TIME_LIMIT = 3  # seconds of one call; filling the memory takes a tenth of one
_MOST_PROBLEMS = 3

# Texts that no check of an argument has written.
_ACCIDENTS = re.compile(r"std::|vector::|basic_string|bad_alloc|internal assert|unordered_map", re.IGNORECASE)


def problems_of(torch: Any, operator: Operator, limit: int, announce: Callable[[str], None]) -> list[str]:
    """What is wrong with the calls made from ``limit`` samples; at most three problems."""
    found: list[str] = []
    samples = list(extreme_samples(operator, torch, limit))

    with _limited_memory(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples:
            if operator.is_mutation:
                sample.clone_input()
            text = f"{operator}: {_describe(sample)}"
            announce(text)

            with _limited_time():
                problem = _problem(torch, operator, sample)
            if problem:
                found.append(f"{text}: {problem}")
            if len(found) == _MOST_PROBLEMS:
                break
    return found


@contextlib.contextmanager
def _limited_memory() -> Iterator[None]:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY_LIMIT, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def _limited_time() -> Iterator[None]:
    """The process ends by SIGXCPU if the block takes too long."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    end = int(time.process_time()) + 1 + _TIME_LIMIT
    resource.setrlimit(resource.RLIMIT_CPU, (end, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, before)


def _problem(torch: Any, operator: Operator, sample: SampleInput) -> str:
    try:
        made = [tensor for tensor in tensors_of(call(operator, torch, sample)) if tensor.requires_grad]
        if made and sum(tensor.numel() for tensor in made) < 1 << 22:
            sum(tensor.sum().abs() for tensor in made).backward()
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        if isinstance(error, SystemError) or _ACCIDENTS.search(text):
            return f"{type(error).__name__} {text}"
        if isinstance(error, MemoryError) and not text:
            return "an error that does not say what there is no memory for"
    return ""


def _describe(sample: SampleInput) -> str:
    def word(value: Any) -> str:
        if hasattr(value, "stride"):
            return f"<{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}>"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(word, value[:8]))}{', ...' if len(value) > 8 else ''}]"
        return repr(value)

    named = [f"{name}={word(value)}" for name, value in sample.kwargs.items()]
    return " ".join(", ".join([*map(word, sample.positional), *named]).split())
