"""Fourier transforms."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NORMS = ("backward", "ortho", "forward")


def _has_transform(make: Make) -> bool:
    """CPUs have no transforms of half precision."""
    return make.dtype_name not in ("float16", "bfloat16")


def _lines(make: Make, shapes: tuple[tuple[int, ...], ...]) -> Iterator[SampleInput]:
    for shape in shapes:
        yield SampleInput(make(*shape))
    for norm in _NORMS:
        yield SampleInput(make(2, 5), norm=norm)
    for n in (1, 3, 4, 8):
        yield SampleInput(make(2, 5), n)
    yield SampleInput(make(3, 4, 2), dim=0)
    yield SampleInput(make(3, 4, 2), 6, 1, "ortho")
    yield SampleInput(make(4, 3, layout="transposed"), dim=1)
    if not make.requires_grad:
        yield SampleInput(make(2, 67))  # a large prime
        yield SampleInput(make(1, 360))
        yield SampleInput(make(40, 12), dim=0)
        yield SampleInput(make(0, 4))
        for tensor in make.layouts(3, 4):
            yield SampleInput(tensor)


@samples("fft")
def fft(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make):
        yield from _lines(make, ((4,), (1,), (2, 6), (2, 7)))


@samples("fft_real")
def fft_real(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make) and not make.is_complex:
        yield from _lines(make, ((4,), (1,), (2, 6), (2, 7)))


@samples("fft_half")
def fft_half(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make):
        yield from _lines(make, ((4,), (2,), (2, 6), (2, 7)))


@error_samples("fft", "fft_half")
def fft_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 0), RuntimeError, "Invalid number of data points")
    yield ErrorInput(SampleInput(make(3), dim=1), IndexError, "Dimension out of range")
    yield ErrorInput(SampleInput(make()), IndexError, "no dimensions")
    yield ErrorInput(SampleInput(make(3), norm="twice"), RuntimeError, "Invalid normalization mode")


@error_samples("fft_real")
def fft_real_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, dtype="complex64")), RuntimeError, "real")
    yield ErrorInput(SampleInput(make(3), -1), RuntimeError, "Invalid number of data points")


def _planes(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(3, 4))
    yield SampleInput(make(2, 4, 5))
    yield SampleInput(make(2, 4, 5), [3, 6])
    yield SampleInput(make(2, 4, 5), [6, 3], [0, 1], "ortho")
    yield SampleInput(make(2, 4, 5), dim=[2, 0], norm="forward")
    yield SampleInput(make(4, 3, layout="transposed"))


@samples("fft2")
def fft2(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make):
        yield from _planes(make)


@samples("fft_real2")
def fft_real2(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make) and not make.is_complex:
        yield from _planes(make)


@samples("fft_half2")
def fft_half2(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make):
        yield from _planes(make)


def _spaces(make: Make) -> Iterator[SampleInput]:
    yield from _planes(make)
    yield SampleInput(make(4))
    yield SampleInput(make(2, 3, 4), [-1, 5])
    yield SampleInput(make(2, 3, 4), dim=[1])


@samples("fftn")
def fftn(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make):
        yield from _spaces(make)


@samples("fft_realn")
def fft_realn(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make) and not make.is_complex:
        yield from _spaces(make)


@samples("fft_halfn")
def fft_halfn(make: Make) -> Iterator[SampleInput]:
    if _has_transform(make):
        yield from _spaces(make)


@error_samples("fft2", "fftn", "fft_half2", "fft_halfn", "fft_real2", "fft_realn")
def fftn_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), [2], [0, 1]), RuntimeError, "same length")
    yield ErrorInput(SampleInput(make(3, 4), dim=[0, 0]), RuntimeError, "unique")
    yield ErrorInput(SampleInput(make(3, 4), [0, 2], [0, 1]), RuntimeError, "Invalid number of data points")
    yield ErrorInput(SampleInput(make(3, 4), dim=[0, 2]), IndexError, "Dimension out of range")


@samples("fft_frequencies")
def fft_frequencies(make: Make) -> Iterator[SampleInput]:
    for n in (1, 4, 5):
        yield SampleInput(n)
        yield SampleInput(n, 0.5)
        yield SampleInput(n, dtype=make.torch.float64)


@samples("fft_shift")
def fft_shift(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(5))
    yield SampleInput(make(4, 3))
    yield SampleInput(make(4, 3), 0)
    yield SampleInput(make(4, 3), [-1])


@samples("window")
def window(make: Make) -> Iterator[SampleInput]:
    for length in (0, 1, 2, 5, 8):
        yield SampleInput(length)
    yield SampleInput(6, dtype=make.torch.float64)


@samples("window_periodic")
def window_periodic(make: Make) -> Iterator[SampleInput]:
    for length in (0, 1, 2, 5, 8):
        for periodic in (False, True):
            yield SampleInput(length, periodic)


@samples("window_alpha")
def window_alpha(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(5, True, 0.6)
    yield SampleInput(5, False, 0.6)


@samples("window_alpha_beta")
def window_alpha_beta(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(5, True, 0.6, 0.3)


@samples("window_kaiser")
def window_kaiser(make: Make) -> Iterator[SampleInput]:
    for length in (0, 1, 2, 5, 8):
        for beta in (0.0, 3.5, 14.0):
            yield SampleInput(length, True, beta)
    yield SampleInput(7, False, -4.0, dtype=make.torch.float64)


@error_samples("window_kaiser")
def window_kaiser_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1, True, 3.0), RuntimeError, "non-negative")
    yield ErrorInput(SampleInput(3, True, 3.0, dtype=make.torch.int64), RuntimeError, "floating point")


@error_samples("window")
def window_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(-1), RuntimeError, "non-negative")
    yield ErrorInput(SampleInput(3, dtype=make.torch.int64), RuntimeError, "floating point")


@samples("stft")
def stft(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact or not _has_transform(make):
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
