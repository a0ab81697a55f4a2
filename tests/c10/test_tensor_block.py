"""The memory of tensors and storages, whose parts end in any order (see tensor_block_driver.cpp)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

SOURCES = [
    "tests/c10/tensor_block_driver.cpp",
    *(f"c10/core/{name}.cpp" for name in (
        "AbsentDevice", "Allocator", "Device", "DeviceHooks", "OpaqueTensorImpl", "ScalarType", "Storage",
        "TensorImpl",
    )),
    *(f"c10/cpu/{name}.cpp" for name in ("BlockCache", "CPUAllocator", "ThreadCache", "WatchedBlocks")),
    "c10/dispatch/LocalState.cpp",
    "c10/util/Exception.cpp",
]  # fmt: skip


@pytest.mark.parametrize(
    "flags",
    [
        ["-O2"],
        ["-O1", "-g", "-fsanitize=address,undefined", "-DTORCH_PY_EXACT_BLOCKS"],
        ["-O1", "-g", "-fsanitize=thread"],
    ],
    ids=["blocks", "exact", "races"],
)
def test_tensor_block(tmp_path: Path, flags: list[str]) -> None:
    program = cpp_driver.build(tmp_path / "tensor_block", SOURCES, *flags)
    assert cpp_driver.run(program) == "ok\n"
