"""Samples of Fourier transforms over one, two and several dimensions."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_NORMS = ("backward", "ortho", "forward")


def has_transform(make: Make) -> bool:
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
    if has_transform(make):
        yield from _lines(make, ((4,), (1,), (2, 6), (2, 7)))


@samples("fft_real")
def fft_real(make: Make) -> Iterator[SampleInput]:
    if has_transform(make) and not make.is_complex:
        yield from _lines(make, ((4,), (1,), (2, 6), (2, 7)))


@samples("fft_half")
def fft_half(make: Make) -> Iterator[SampleInput]:
    if has_transform(make):
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
@samples("fft_half2")
def fft2(make: Make) -> Iterator[SampleInput]:
    if has_transform(make):
        yield from _planes(make)


@samples("fft_real2")
def fft_real2(make: Make) -> Iterator[SampleInput]:
    if has_transform(make) and not make.is_complex:
        yield from _planes(make)


def _spaces(make: Make) -> Iterator[SampleInput]:
    yield from _planes(make)
    yield SampleInput(make(4))
    yield SampleInput(make(2, 3, 4), [-1, 5])
    yield SampleInput(make(2, 3, 4), dim=[1])


@samples("fftn")
@samples("fft_halfn")
def fftn(make: Make) -> Iterator[SampleInput]:
    if has_transform(make):
        yield from _spaces(make)


@samples("fft_realn")
def fft_realn(make: Make) -> Iterator[SampleInput]:
    if has_transform(make) and not make.is_complex:
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
