"""Warnings that are given once per process, and those that come with every call."""

from __future__ import annotations

from tests.subject import only_torch_py

_WARNS = """
import warnings
import numpy as np
import torch_py as torch
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        spectrum = torch.stft(torch.ones(20), 8, return_complex=True)
        torch.istft(spectrum, 8)
        torch.tensor([np.ones(2), np.zeros(2)])
    torch.stft(torch.ones(20), 8, window=torch.ones(8), return_complex=True)
print(*sorted(str(warning.message)[:30] for warning in caught), sep="|")
"""


@only_torch_py
def test_warnings_come_once() -> None:
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", _WARNS], capture_output=True, text=True, timeout=120)
    assert done.stdout.split("|")[0].startswith("A window was not provided"), done.stderr
    assert [text[:8] for text in done.stdout.strip().split("|")] == ["A window", "A window", "Creating"]
