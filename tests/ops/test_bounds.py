"""Extreme numbers and shapes of every operator, forward and backward: no crash, no call without end.

What a call costs follows from the sizes that it asks for: it computes, or refuses, or says that memory does
not suffice, in bounded time and memory. Internal errors and texts of the C++ library are failures.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ops.calling import call, tensors_of
from tests.ops.extremes import extreme_samples
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

MEMORY_LIMIT = 160 << 20  # bytes above what is in use: larger tensors are refused, not filled
TIME_LIMIT = 3  # seconds of one call; filling the memory takes a tenth of one
_MOST_PROBLEMS = 3

# Texts that no check of an argument has written.
_ACCIDENTS = re.compile(r"std::|vector::|basic_string|bad_alloc|internal assert|unordered_map", re.IGNORECASE)


@enrolled()
@pytest.mark.skipif(WITH_PEER, reason="PyTorch crashes")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a process")
def test_extreme_arguments(operator: Operator):
    problems: list[str] = []
    start = 0

    # A call that ends the process ends only a child; the next child goes on after it.
    while len(problems) < _MOST_PROBLEMS:
        lines, status = in_child(operator, start)
        problems += [line for line in lines if not line.startswith(("@", "done"))]
        if "done" in lines:
            break
        last = next((line for line in reversed(lines) if line.startswith("@")), "@ 0 before the first call")
        start = int(last.split()[1]) + 1
        problems.append(f"{_ending(status)}: {last.split(maxsplit=2)[2]}")

    assert not problems, f"{operator}:\n" + "\n".join(problems)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return "takes too long" if number == signal.SIGXCPU else f"ends with {signal.Signals(number).name}"
    return f"ends with status {os.WEXITSTATUS(status)}"


def in_child(operator: Operator, start: int) -> tuple[list[str], int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            with os.fdopen(writing, "w", buffering=1) as log:
                for line in calls(operator, start):
                    print(line, file=log)
        finally:
            os._exit(0)

    os.close(writing)
    with os.fdopen(reading, errors="replace") as log:
        lines = log.read().splitlines()
    return lines, os.waitpid(child, 0)[1]


def calls(operator: Operator, start: int) -> Iterator[str]:
    """Makes the calls from number `start` on. Yields "@ NUMBER CALL" before each, its problems, "done"."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY_LIMIT
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    for number, sample in enumerate(extreme_samples(operator, torch, operator.is_differentiable)):
        if number < start:
            continue
        if operator.is_mutation:
            sample.clone_input()
        text = " ".join(describe(sample).split())
        yield f"@ {number} {text}"

        seconds = int(time.process_time()) + TIME_LIMIT
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
        problem = problem_of(operator, sample)
        if problem:
            yield f"{problem}: {text}"

    yield "done"


def problem_of(operator: Operator, sample: SampleInput) -> str:
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


def describe(sample: SampleInput) -> str:
    def word(value: Any) -> str:
        if hasattr(value, "stride"):
            return f"<{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}>"
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(word, value[:8]))}{', ...' if len(value) > 8 else ''}]"
        return repr(value)

    named = [f"{name}={word(value)}" for name, value in sample.kwargs.items()]
    return ", ".join([*map(word, sample.positional), *named])
