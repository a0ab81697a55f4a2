"""aten/vec/brief/immintrin.h, with which compiled programs are built in place of the header of GCC."""

from __future__ import annotations

import ctypes
import platform
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from torch_py._inductor import compile_cpp
from torch_py._inductor.compile_cpp import has_packs
from torch_py._installation import include_paths

GCC = shutil.which("g++")
pytestmark = pytest.mark.skipif(
    GCC is None or platform.machine() != "x86_64" or not has_packs(), reason="for GCC and packs of x86-64"
)

SOURCE = """
#include "aten/vec/pack_loops.h"
using namespace at::vec;

#define KERNEL(name, T, expression)                                       \\
  extern "C" void name(const T* source, T* target, int64_t count) {       \\
    for_packs(0, count, [&](int64_t i, auto part) {                       \\
      const Pack x = part.load(source + i);                               \\
      part.store(target + i, expression);                                 \\
    });                                                                   \\
  }

KERNEL(fused, float, multiply_add(x, x, broadcast(2.5f)))
KERNEL(root, float, at::vec::sqrt(x))
KERNEL(magnitude, float, at::vec::abs(x))
KERNEL(even, float, rounded<_MM_FROUND_TO_NEAREST_INT>(x))
KERNEL(below, float, rounded<_MM_FROUND_TO_NEG_INF>(x))
KERNEL(most, float, at_most(x, 3.f))
KERNEL(least, float, at_least(x, -3.f))
KERNEL(choice, float, all_at_most(x, 10.f) ? x : x + 1.f)
KERNEL(exponential, float, at::vec::exp(x))
KERNEL(tangent, float, at::vec::tanh(x))
KERNEL(sine, float, at::vec::sin(x))
KERNEL(halves, c10::Half, x * x)
KERNEL(short_floats, c10::BFloat16, x * x + 1.f)
"""
OF_FLOATS = "fused root magnitude even below most least choice exponential tangent sine".split()
OF_HALVES = ("halves", "short_floats")
COUNT = 1003  # the last pack is filled in part


def _library(folder: Path, name: str, includes: list[str]) -> Any:
    source = folder / "kernels.cpp"
    source.write_text(SOURCE)
    target = folder / f"{name}.so"
    paths = [f"-I{path}" for path in includes]
    subprocess.run([str(GCC), *compile_cpp.flags(), *paths, "-o", str(target), str(source)], check=True)
    return ctypes.CDLL(str(target))


def test_its_instructions_are_those_of_the_whole_header(tmp_path: Path):
    brief = _library(tmp_path, "brief", [f"{include_paths()[0]}/{compile_cpp.BRIEF}", *include_paths()])
    whole = _library(tmp_path, "whole", include_paths())

    numbers = random.Random(1)
    special = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-40, 2.5, -2.5]
    floats = [*special, *(numbers.uniform(-100, 100) for _ in range(COUNT - len(special)))]
    halves = [numbers.randrange(1 << 16) for _ in range(COUNT)]
    cases = [(name, ctypes.c_float, floats) for name in OF_FLOATS]
    cases += [(name, ctypes.c_ushort, halves) for name in OF_HALVES]

    for name, kind, values in cases:
        row = kind * COUNT
        source = row(*values)
        found = row()
        expected = row()
        getattr(brief, name)(source, found, ctypes.c_int64(COUNT))
        getattr(whole, name)(source, expected, ctypes.c_int64(COUNT))
        assert bytes(found) == bytes(expected), name


def test_kernels_are_compiled_without_the_whole_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    commands: list[Any] = []
    original = subprocess.Popen

    def noting(command: Any, **options: Any) -> Any:
        commands.append(command)
        return original(command, **options)

    monkeypatch.setattr(subprocess, "Popen", noting)
    monkeypatch.setenv("CXX", str(GCC))
    source = tmp_path / "kernels.cpp"
    source.write_text(SOURCE)
    compile_cpp._run(str(GCC), str(source), str(tmp_path / "kernels.so"))

    (command,) = commands
    paths = [part for part in command if part.startswith("-I")]
    flags = [*compile_cpp.flags(), *paths, "-E", str(source)]
    text = subprocess.run([str(GCC), *flags], check=True, capture_output=True, text=True).stdout
    assert "brief/immintrin.h" in text and "fmadd_ps" in text
    assert "avxintrin.h" not in text and "emmintrin.h" not in text
