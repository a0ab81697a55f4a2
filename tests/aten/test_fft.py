"""Both Fourier transforms, the library's and our own, against NumPy's, over lengths of every kind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(WITH_PEER, reason="about the backends of torch_py")
# Powers, products of small primes, primes small and large, and twice a large prime.
LENGTHS = [*range(1, 34), 60, 64, 67, 96, 97, 121, 127, 134, 251, 256, 360, 509, 1000, 1024, 2003]


# A length, and rows that are transformed together, next to a few that are left.
LONG = [(1, 2048), (19, 600), (1, 3 * 2**10), (2, 2**14), (1, 30030), (1, 2**16 + 1), (1, 2**18)]


def check() -> None:
    generator = np.random.default_rng(0)
    for rows, n in [*((3, n) for n in LENGTHS), *((17, n) for n in range(1, 20)), *LONG]:
        x = generator.standard_normal((rows, n)) + 1j * generator.standard_normal((rows, n))
        scale = np.abs(x).sum()

        for dtype, tolerance in (("complex128", 1e-15), ("complex64", 5e-7)):
            values = torch.from_numpy(x.astype(dtype))

            pairs = [
                (torch.fft.fft(values), np.fft.fft(x)),
                (torch.fft.ifft(values, norm="forward"), np.fft.ifft(x, norm="forward")),
                (torch.fft.rfft(values.real), np.fft.rfft(x.real)),
                (torch.fft.irfft(values, n, norm="forward"), np.fft.irfft(x, n, norm="forward")),
            ]

            for position, (found, expected) in enumerate(pairs):
                error = np.abs(found.numpy() - expected).max()
                assert error <= tolerance * scale * max(1, np.log2(n)), (
                    f"{n} points, {dtype}, transform {position}: {error / scale}"
                )


def test_library() -> None:
    check()


@pytest.mark.parametrize("capability", ["default", "avx2", "avx512"])
def test_builtin(capability: str) -> None:
    script = "from tests.aten.test_fft import check; check()"
    variables = {"TORCH_PY_BLAS_BACKEND": "builtin", "TORCH_PY_CPU_CAPABILITY": capability}
    environment = {**os.environ, **variables}
    folder = Path(__file__).parents[2]

    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr[-2000:]


def test_a_thread_keeps_few_plans() -> None:
    for n in range(1, 200):
        torch.fft.fft(torch.ones(n))
    assert torch.fft.fft(torch.ones(7))[0].item() == 7
