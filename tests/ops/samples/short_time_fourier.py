"""Samples of stft and istft."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.fourier_transform import has_transform
from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("stft")
def stft(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact or not has_transform(make):
        return
    window = {} if make.is_complex else {"window": make(4, low=0.5, high=1.0, requires_grad=False)}
    yield SampleInput(make(12), 4, return_complex=True, **window)
    yield SampleInput(make(2, 11), 4, 2, return_complex=True, **window)
    yield SampleInput(make(2, 11), 4, 3, center=False, return_complex=True)
    yield SampleInput(make(2, 11), 6, 3, 4, normalized=True, return_complex=True)
    yield SampleInput(make(2, 11), 4, 1, onesided=False, return_complex=True)
    if not make.requires_grad:
        yield SampleInput(make(9), 4, 2, return_complex=False)
        yield SampleInput(make(9), 4, 2, pad_mode="constant", return_complex=True)


@error_samples("stft")
def stft_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(12), 4), RuntimeError, "return_complex")
    yield ErrorInput(SampleInput(make(12), 40, return_complex=True, center=False), RuntimeError, "n_fft")
    yield ErrorInput(SampleInput(make(12), 4, 0, return_complex=True), RuntimeError, "hop_length")
    yield ErrorInput(SampleInput(make(12), 4, 2, 5, return_complex=True), RuntimeError, "win_length")
    yield ErrorInput(SampleInput(make(2, 2, 12), 4, return_complex=True), RuntimeError, "1D or 2D")


@samples("istft")
def istft(make: Make) -> Iterator[SampleInput]:
    if not make.is_complex:
        return

    window = {
        "window": make(
            4,
            low=0.5,
            high=1.0,
            requires_grad=False,
            dtype="float64" if make.dtype_name == "complex128" else "float32",
        )
    }

    yield SampleInput(make(3, 5), 4, 2, **window)
    yield SampleInput(make(2, 3, 5), 4, 1)
    yield SampleInput(make(2, 3, 5), 4, 2, length=7, **window)
    yield SampleInput(make(4, 5), 4, 2, onesided=False, return_complex=True)


@error_samples("istft")
def istft_errors(make: Make) -> Iterator[ErrorInput]:
    spectrum = make(3, 5, dtype="complex64")
    yield ErrorInput(SampleInput(make(3, 5), 4), RuntimeError, "complex")
    yield ErrorInput(SampleInput(spectrum, 8), RuntimeError, "frequency")
    yield ErrorInput(SampleInput(spectrum, 4, 2, 5), RuntimeError, "win_length")
