"""Samples of norms of vectors and matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import plain, regular
from tests.ops.samples.reductions import dim_errors, tensors
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_INF = float("inf")


@samples("vector_norm")
def vector_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0.0,)))
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1, 0)
    yield SampleInput(make(2, 3, away_from=(0.0,)), 3.5, dim=-1, keepdim=True)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), ord=2, dim=(0, 2))
    yield SampleInput(plain(make, 2, 3), float("inf"), dim=1)
    yield SampleInput(plain(make, 2, 3), -float("inf"), dim=1)
    yield SampleInput(make(2, 3, away_from=(0.0,)), -2)
    yield SampleInput(make(away_from=(0.0,)))
    yield SampleInput(make(0))

    if not make.requires_grad:
        yield SampleInput(make(2, 3), 0)
        yield SampleInput(make(2, 0), dim=1)
        if make.is_floating:
            yield SampleInput(make(2, 3), dtype=make.torch.float64)


@error_samples("vector_norm")
def vector_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(0), float("inf")), RuntimeError, "identity")
    yield ErrorInput(SampleInput(make(0, 2), float("inf"), dim=0), RuntimeError, "dimension 0")
    yield ErrorInput(SampleInput(make(2, dtype="int64")), RuntimeError, "floating point or complex.*Long")
    yield ErrorInput(SampleInput(make(2), dtype=make.torch.complex64), RuntimeError, "real for real")
    yield ErrorInput(
        SampleInput(make(2, dtype="float64"), dtype=make.torch.float32), RuntimeError, "narrowing"
    )


@samples("powsum")
def powsum(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:
        return

    yield SampleInput(make(2, 3, away_from=(0.0,)))
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 3, dim=(0, 2))
    yield SampleInput(make(2, 3, away_from=(0.0,)), 2.5, dim=-1, keepdim=True)
    yield SampleInput(make(away_from=(0.0,)), 2)

    if not make.requires_grad:
        yield SampleInput(make(2, 3), 0)
        yield SampleInput(make(0))
        if make.is_floating:
            yield SampleInput(make(2, 3), 3, dtype=make.torch.float64)


@error_samples("powsum")
def powsum_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), dtype=make.torch.complex64), RuntimeError, "real for real")


@samples("matrix_norm")
def matrix_norm(make: Make) -> Iterator[SampleInput]:
    for order in (1, -1, float("inf"), -float("inf")) if make.is_inexact else ():
        yield SampleInput(make.values([[1.0, -2.1, 3.3], [0.5, 1.2, -4.0]]), order)

    if make.is_inexact and make.dtype_name not in ("float16", "bfloat16"):
        yield SampleInput(regular(make, 2, 3), 2)
        yield SampleInput(regular(make, 2, 2, 2), -2, keepdim=True)
        yield SampleInput(regular(make, 2, 3), "nuc")
        yield SampleInput(regular(make, 2, 3, 2), "nuc", dim=(0, 1))

    yield SampleInput(make(2, 3, away_from=(0.0,)), "fro")
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), dim=(0, 2))
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 1, dim=(2, 0), keepdim=True)

    if not make.requires_grad:
        yield SampleInput(make(0, 3), 1)
        yield SampleInput(make(3, 0), 1)


@error_samples("matrix_norm")
def matrix_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2), 1), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(2, 2), 3), RuntimeError, "Order 3 not supported")
    yield ErrorInput(SampleInput(make(2, 2), "max"), RuntimeError, "Order max not supported")
    yield ErrorInput(SampleInput(make(2, 2), 1, dim=(0, 0)), RuntimeError, "must be different")
    yield ErrorInput(SampleInput(make(2, 2), 1, dim=(0,)), RuntimeError, "2-tuple")
    yield ErrorInput(SampleInput(make(2, 2, dtype="int64"), 1), RuntimeError, "floating point")


@samples("linalg_norm")
def linalg_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)))
    yield SampleInput(make(3, away_from=(0.0,)), 3)
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 3, dim=1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 1, dim=(0, 2), keepdim=True)
    yield SampleInput(make(2, 3, away_from=(0.0,)), "fro")
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), dim=(0, 1))


@error_samples("linalg_norm")
def linalg_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2, 2), 2), RuntimeError, "1D or 2D. Got 3D")
    yield ErrorInput(SampleInput(make(2, 2, 2), 2, dim=(0, 1, 2)), RuntimeError, "length 1 or 2")
    yield ErrorInput(SampleInput(make(2, 2), "x"), RuntimeError, "Order x not supported")


@samples("nuclear_norm")
def nuclear_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 2, 3))
    yield SampleInput(regular(make, 3, 2), keepdim=True)
    yield SampleInput(regular(make, 2, 3, 2), (0, 1))
    yield SampleInput(regular(make, 2, 2, 3), (1, 2), keepdim=True)


@samples("frobenius_norm")
def frobenius_norm(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0.0,)), 1)
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), (0, 2), keepdim=True)


@samples("norm_except_dim")
def norm_except_dim(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(make(2, 3, away_from=(0.0,)))
    yield SampleInput(make(2, 3, 2, away_from=(0.0,)), 2, 2)
    yield SampleInput(make(2, 3, away_from=(0.0,)), 3, -1)
    yield SampleInput(make(3, away_from=(0.0,)), pow=1)


@samples("renorm")
def renorm(make: Make) -> Iterator[SampleInput]:
    if not make.is_inexact:
        return
    for p in (2, 1, 0.5, 3):
        yield SampleInput(make(3, 4, away_from=(0,)), p, 0, 1.5)
    yield SampleInput(make(2, 3, 2, away_from=(0,)), 2, 1, 0.5)
    yield SampleInput(make(2, 3, layout="transposed", away_from=(0,)), 2, -1, 1)
    yield SampleInput(make(2, 3, away_from=(0,)), 2, 0, 100.0)
    yield SampleInput(make(0, 3), 2, 0, 1)
    if not make.requires_grad:
        yield SampleInput(make(2, 3), _INF, 0, 0.5)
        yield SampleInput(make(2, 3), 2, 0, 0)


@error_samples("renorm")
def renorm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 2, 0, 1), RuntimeError, "2 dimensions")
    yield ErrorInput(SampleInput(make(2, 3), 0, 0, 1), RuntimeError, "non-positive")
    yield ErrorInput(SampleInput(make(2, 3), 2, 0, -1), RuntimeError, "maxnorm")
    yield ErrorInput(SampleInput(make(2, 3), 2, 2, 1), IndexError, "2")


@error_samples("norm_dim")
def norm_dim_errors(make: Make) -> Iterator[ErrorInput]:
    yield from dim_errors(make, 2)


@samples("norm_dim")
def norm_dim(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(0,)):
        for p in (2, 1, 3, 0.5):
            yield SampleInput(tensor, p, [0])
        yield SampleInput(tensor, None, [-1], True)
    for p in (float("inf"), float("-inf"), 0):
        yield SampleInput(make(3, 4, low=0.2, high=3.0, distinct=True), p, [1])
    yield SampleInput(make(2, 3, away_from=(0,)), 2, [0, 1])


@samples("norm_all")
def norm_all(make: Make) -> Iterator[SampleInput]:
    for tensor in tensors(make, away_from=(0,)):
        yield SampleInput(tensor)
        yield SampleInput(tensor, 1)
        yield SampleInput(tensor, 3)


def _norm_dtypes(make: Make) -> list[Any]:
    """Values of ``dtype`` for norms of floats: float64 and the dtype under test."""
    return [make.torch.float64, make.dtype] if make.is_floating else []


@samples("norm_dim_dtype")
def norm_dim_dtype(make: Make) -> Iterator[SampleInput]:
    for dtype in _norm_dtypes(make):
        for tensor in tensors(make, away_from=(0,)):
            yield SampleInput(tensor, 2, [0], False, dtype=dtype)
        yield SampleInput(make(2, 3, away_from=(0,)), 1, [0, 1], True, dtype=dtype)
        yield SampleInput(make(2, 3, away_from=(0,)), None, [-1], False, dtype=dtype)


@samples("norm_all_dtype")
def norm_all_dtype(make: Make) -> Iterator[SampleInput]:
    for dtype in _norm_dtypes(make):
        for tensor in tensors(make, away_from=(0,)):
            yield SampleInput(tensor, 3, dtype=dtype)
            yield SampleInput(tensor, None, dtype=dtype)


@error_samples("norm_dim_dtype")
def norm_dim_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 3), 2, [0], False, dtype=make.torch.int64), RuntimeError, "floating point"
    )
    yield ErrorInput(
        SampleInput(make(2, 3), 2, [0], False, dtype=make.torch.float16), RuntimeError, "without narrowing"
    )


@error_samples("norm_all_dtype")
def norm_all_dtype_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3), 2, dtype=make.torch.int64), RuntimeError, "floating point")
    yield ErrorInput(SampleInput(make(3), 2, dtype=make.torch.bfloat16), RuntimeError, "without narrowing")
