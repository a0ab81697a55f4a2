"""The caching CPU allocator: reuse, limits, threads, fork, statistics, speed (see allocator_driver.cpp)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

SOURCES = [
    "tests/c10/allocator_driver.cpp",
    "c10/core/AbsentDevice.cpp",
    "c10/core/Allocator.cpp",
    "c10/core/Device.cpp",
    "c10/core/DeviceHooks.cpp",
    "c10/core/Storage.cpp",
    "c10/cpu/BlockCache.cpp",
    "c10/cpu/CPUAllocator.cpp",
    "c10/cpu/WatchedBlocks.cpp",
    "c10/cpu/ThreadCache.cpp",
    "c10/util/Exception.cpp",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cpp_driver.build(tmp_path_factory.mktemp("allocator") / "allocator", SOURCES, "-O1")


def test_allocator(program: Path) -> None:
    assert cpp_driver.run(program, "check") == "ok\n"


def test_limit_from_environment_turns_caching_off(program: Path) -> None:
    cpp_driver.run(program, "limit0", TORCH_PY_CPU_CACHE_LIMIT="0")


def test_cached_blocks_are_cheap(program: Path) -> None:
    # Measured 5-10 ns; the bound only tells a cache from the system (75 ns) on a busy machine.
    nanoseconds = dict(line.split() for line in cpp_driver.run(program, "speed").splitlines())
    assert float(nanoseconds["small"]) < 60
    assert float(nanoseconds["large"]) < 2000
