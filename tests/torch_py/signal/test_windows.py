"""torch_py.signal.windows: values of SciPy and PyTorch, and refused arguments."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import torch_py as torch
from torch_py.signal import windows

SETTINGS = {
    "bartlett": [{}],
    "blackman": [{}],
    "cosine": [{}],
    "hamming": [{}],
    "hann": [{}],
    "nuttall": [{}],
    "exponential": [{}, {"tau": 3.0}],
    "gaussian": [{"std": 1.0}, {"std": 2.5}],
    "general_cosine": [{"a": [0.4, 0.3, 0.2, 0.1]}, {"a": (1.0,)}],
    "general_hamming": [{"alpha": 0.54}, {"alpha": 0.7}],
    "kaiser": [{"beta": 12.0}, {"beta": 0.0}, {"beta": 3.0}],
}
CASES = [(name, settings) for name, found in SETTINGS.items() for settings in found]


def test_every_window_is_tested():
    assert sorted(windows.__all__) == sorted(SETTINGS)


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("size", [0, 1, 2, 3, 8, 33])
@pytest.mark.parametrize(("name", "settings"), CASES)
def test_values(name: str, settings: dict, size: int, sym: bool):
    scipy = pytest.importorskip("scipy.signal.windows")
    ours = getattr(windows, name)(size, sym=sym, dtype=torch.float64, **settings)
    theirs = getattr(scipy, name)(size, sym=sym, **settings)
    np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", SETTINGS)
def test_signature_and_float32_values_are_pytorchs(name: str):
    peer = pytest.importorskip("torch")
    ours, theirs = getattr(windows, name), getattr(peer.signal.windows, name)
    names = [(p.name, p.kind) for p in inspect.signature(theirs).parameters.values()]
    assert [(p.name, p.kind) for p in inspect.signature(ours).parameters.values()] == names
    for settings in SETTINGS[name]:
        np.testing.assert_allclose(
            ours(9, **settings).numpy(), theirs(9, **settings).numpy(), rtol=1e-5, atol=1e-6
        )


def test_center_of_a_periodic_exponential():
    expected = np.exp(-np.abs(np.arange(5) - 1.5) / 2)
    np.testing.assert_allclose(
        windows.exponential(5, sym=False, center=1.5, tau=2.0, dtype=torch.float64).numpy(),
        expected,
        rtol=1e-14,
    )


def test_requires_grad():
    assert windows.hann(4, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: windows.hann(-1), ValueError, "hann requires non-negative window length, got M=-1"),
        (lambda: windows.hann(2.5), TypeError, "M=2.5"),
        (lambda: windows.hann(5, dtype=torch.int64), ValueError, "float32 or float64"),
        (lambda: windows.hann(5, beta=1), TypeError, "beta"),
        (lambda: windows.gaussian(5, std=0), ValueError, "Standard deviation must be positive, got: 0"),
        (lambda: windows.exponential(5, tau=-1), ValueError, "Tau must be positive, got: -1"),
        (lambda: windows.exponential(5, center=1.0), ValueError, "Center must be None"),
        (lambda: windows.kaiser(5, beta=-1), ValueError, "beta must be non-negative, got: -1"),
        (lambda: windows.general_cosine(5), TypeError, "a"),
        (lambda: windows.general_cosine(5, a=3), TypeError, "list/tuple"),
        (lambda: windows.general_cosine(5, a=[]), ValueError, "cannot be empty"),
        (lambda: windows.general_cosine(5, a=[0.5, "a"]), TypeError, "numbers"),
    ],
)
def test_refusals(call, error: type, message: str):
    with pytest.raises(error, match=message):
        call()
