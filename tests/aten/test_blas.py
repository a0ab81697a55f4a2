"""Compares aten/blas with the definitions, for every element type and instruction set.

The calls are made by blas_driver.cpp.
"""

from __future__ import annotations

import platform
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cpp_driver

LEVELS = {
    "DEFAULT": ["-O1"],
    "AVX2": ["-O1", "-mavx2", "-mfma", "-mf16c"],
    "AVX512": ["-O1", "-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mavx2", "-mfma", "-mf16c"],
}
SOURCES = [
    "tests/aten/blas_driver.cpp",
    "aten/blas/Blas.cpp",
    "aten/blas/Builtin.cpp",
    "aten/blas/Choice.cpp",
    "aten/core/Warning.cpp",
    "aten/parallel/BlasThreads.cpp",
    "aten/parallel/LibraryThreads.cpp",
    "aten/parallel/Parallel.cpp",
    "aten/parallel/ThreadPool.cpp",
    "c10/cpu/CpuInfo.cpp",
    "c10/util/Exception.cpp",
]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blas")
    levels = LEVELS if platform.machine() == "x86_64" else {"DEFAULT": LEVELS["DEFAULT"]}
    objects = [
        cpp_driver.object_file(
            folder / f"{kernels}.{level}.o",
            f"aten/blas/tile/{kernels}.isa.cpp",
            f"-DCPU_CAPABILITY={level}",
            *flags,
        )
        for level, flags in levels.items()
        for kernels in ("Gemm", "Gemv")
    ]
    return cpp_driver.build(folder / "blas", [*SOURCES, *objects], "-O1", "-fopenmp")


@pytest.mark.parametrize("level", list(LEVELS))
def test_builtin(program: Path, level: str) -> None:
    # On a processor without the level, the best one below it runs.
    assert cpp_driver.run(program, "check", TORCH_PY_CPU_CAPABILITY=level) == "builtin\n"


def test_bfloat16_without_its_instructions(program: Path) -> None:
    assert cpp_driver.run(program, "check", TORCH_PY_CPU_WITHOUT="avx512_bf16") == "builtin\n"


def test_bytes_without_their_instructions(program: Path) -> None:
    assert cpp_driver.run(program, "check", TORCH_PY_CPU_WITHOUT="avx512_vnni") == "builtin\n"


def test_unknown_backend_is_reported(program: Path) -> None:
    assert cpp_driver.run(program, "speed", TORCH_PY_BLAS_BACKEND="clblas").startswith("builtin")
