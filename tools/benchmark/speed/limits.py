"""What the machine can do at most, measured on the spot: the yardstick of the speed benchmark."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import timeit
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.build.toolchain import find_compiler

SOURCE = Path(__file__).with_suffix(".cpp")
BUILT = Path(__file__).resolve().parents[3] / "build" / "benchmark"
FLAGS = ("-std=c++20", "-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC")

# What a copy reads and writes: within one core's own cache, within the cache that cores share, and
# beyond any cache.
COPIES = (256 << 10, 8 << 20, 256 << 20)
SECONDS = 0.3


@dataclass(frozen=True)
class Limits:
    """Rates of one thread: operations per second by dtype, bytes per second, seconds of an empty call.

    `copies` has the rate for each of COPIES.
    """

    operations: dict[str, float]
    copies: dict[int, float]
    triad: float
    call: float

    def seconds(self, flops: float, moved: float, dtype: str) -> float:
        """The least time in which so many operations can be done and so many bytes moved."""
        peak = self.operations.get(dtype) or self.operations["float32"]
        size = next((size for size in COPIES if moved <= size), COPIES[-1])
        return max(flops / peak, moved / self.copies[size])


@cache
def library() -> ctypes.CDLL:
    """limits.cpp, compiled once for each version of its text."""
    text = SOURCE.read_bytes() + " ".join(FLAGS).encode()
    path = BUILT / f"limits-{hashlib.sha256(text).hexdigest()[:12]}.so"
    if not path.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        compiler = find_compiler(os.environ.get("CXX", ""))
        subprocess.run([*compiler.split(), *FLAGS, str(SOURCE), "-o", str(path)], check=True)

    loaded = ctypes.CDLL(str(path))
    for name in ("multiply_add_float32", "multiply_add_float64", "dot_bfloat16", "dot_int8"):
        function = getattr(loaded, name)
        function.argtypes = [ctypes.c_double]
        function.restype = ctypes.c_double
    for name in ("copy", "triad"):
        function = getattr(loaded, name)
        function.argtypes = [ctypes.c_double, ctypes.c_size_t]
        function.restype = ctypes.c_double

    return loaded


def calibration() -> float:
    """Multiply-adds per second right now; a busy machine shows as a lower rate."""
    return float(library().multiply_add_float32(0.002))


def measured() -> Limits:
    """The limits of the core this process runs on."""
    probe = library()
    single = probe.multiply_add_float32(SECONDS)
    double = probe.multiply_add_float64(SECONDS)

    operations = {
        "float32": single,
        "float64": double,
        # A complex multiply-add is four real ones, and is counted as four.
        "complex64": single,
        "complex128": double,
        "bfloat16": probe.dot_bfloat16(SECONDS) or single,
        "float16": single,
        "int8": probe.dot_int8(SECONDS) or single,
    }

    return Limits(
        operations=operations,
        copies={size: probe.copy(SECONDS, size // 2) for size in COPIES},
        triad=probe.triad(SECONDS, COPIES[-1] // 2),
        call=min(timeit.repeat("id(value)", globals={"value": 1}, number=100_000, repeat=20)) / 100_000,
    )


def describe(limits: Limits) -> str:
    rates = ", ".join(f"{dtype} {rate / 1e9:.0f}" for dtype, rate in limits.operations.items())
    copies = ", ".join(f"{size >> 10} KiB {rate / 1e9:.0f}" for size, rate in limits.copies.items())
    return (
        f"one thread: GFLOP/s {rates}; GB/s of copies that move {copies}, "
        f"triad {limits.triad / 1e9:.0f}; empty call {limits.call * 1e9:.0f} ns"
    )
