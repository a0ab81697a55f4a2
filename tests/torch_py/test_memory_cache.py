"""The memory that freed CPU tensors leave behind: statistics, limits, and forked processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import torch_py as torch
from tests.subject import not_sanitized

pytestmark = not_sanitized

MEGABYTE = 1 << 20


def reserved_by(program: str, **environment: str) -> int:
    """The reserved bytes at the end of a program in a process of its own."""
    ending = "\nprint(torch.cpu.memory_stats()['reserved_bytes'])"
    output = subprocess.run(
        [sys.executable, "-c", "import time\nimport torch_py as torch\n" + program + ending],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, **environment},
    ).stdout
    return int(output.split()[-1])


def test_memory_is_kept_until_the_cache_is_emptied():
    x = torch.zeros(6 * MEGABYTE, dtype=torch.uint8)
    assert torch.cpu.memory_stats()["allocated_bytes"] >= x.nbytes
    del x
    assert torch.cpu.memory_stats()["cached_bytes"] >= 6 * MEGABYTE

    torch.cpu.empty_cache()
    statistics = torch.cpu.memory_stats()
    assert statistics["reserved_bytes"] == statistics["allocated_bytes"] + statistics["cached_bytes"]
    assert statistics["peak_reserved_bytes"] >= statistics["reserved_bytes"] + 6 * MEGABYTE


def test_large_memory_that_is_not_used_goes_back():
    program = """
x = torch.zeros(400, 1 << 20, dtype=torch.uint8)
del x
end = time.monotonic() + 2.5
while time.monotonic() < end:
    torch.zeros(2 << 20, dtype=torch.uint8)
"""
    assert reserved_by(program) < 20 * MEGABYTE


def test_new_sizes_do_not_add_up():
    program = "for rows in range(100): torch.zeros(20 + rows, 1 << 20, dtype=torch.uint8)"
    assert reserved_by(program) < 2 * 140 * MEGABYTE


def test_limits_turn_the_cache_off():
    program = "torch.zeros(9 << 20, dtype=torch.uint8)"
    assert reserved_by(program) >= 9 * MEGABYTE
    assert reserved_by(program, TORCH_PY_CPU_CACHE_LIMIT="0") < MEGABYTE
    assert reserved_by("torch.cpu.set_cache_limit(0)\n" + program) < MEGABYTE
    with pytest.raises(ValueError, match="bytes >= 0"):
        torch.cpu.set_cache_limit(-1)


def test_forked_processes_do_not_hold_the_cache_of_their_parent():
    program = """
import os
x = torch.zeros(90, 1 << 20, dtype=torch.uint8)
del x
if os.fork() == 0:
    for rows in range(9, 60): torch.zeros(rows, 1 << 18, dtype=torch.uint8)
    os._exit(torch.cpu.memory_stats()["reserved_bytes"] > 40 << 20)
assert os.wait()[1] == 0
"""
    assert reserved_by(program) < 9 * MEGABYTE
