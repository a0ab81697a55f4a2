"""Samples of condition numbers and ranks of matrices."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.matrices import hermitian, regular
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("linalg_cond")
def linalg_cond(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(regular(make, 3, 2), -2)
    yield SampleInput(regular(make, 2, 2, 2), 1)
    yield SampleInput(regular(make, 2, 2), float("inf"))
    yield SampleInput(regular(make, 2, 2), "fro")
    yield SampleInput(regular(make, 2, 2), "nuc")
    if not make.requires_grad:
        yield SampleInput(make.values([[0.0, 0.0], [0.0, 0.0]]), 1)
        if make.is_inexact and make.dtype_name not in ("float16", "bfloat16"):
            yield SampleInput(make(0, 0))


@error_samples("linalg_cond")
def linalg_cond_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 2), 3), RuntimeError, "invalid norm type: 3")
    yield ErrorInput(SampleInput(make(2, 2), "x"), RuntimeError, "invalid norm type: x")
    yield ErrorInput(SampleInput(make(2, 3), 1), RuntimeError, "square")


@samples("matrix_rank")
def matrix_rank(make: Make) -> Iterator[SampleInput]:
    yield SampleInput(regular(make, 3, 3))
    yield SampleInput(make.values([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]))
    yield SampleInput(hermitian(make, 2, 2, 2), hermitian=True)
    yield SampleInput(regular(make, 2, 3), atol=3.0)
    yield SampleInput(regular(make, 2, 3), rtol=0.9)
    yield SampleInput(regular(make, 2, 3), 3.0)
    yield SampleInput(regular(make, 2, 3), make.tensor(3.0, "float32"))
    yield SampleInput(regular(make, 2, 2, 3), atol=make.tensor([0.1, 3.0], "float32"))
    yield SampleInput(make(0, 3))


@error_samples("matrix_rank")
def matrix_rank_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3)), RuntimeError, "2 dimensions")
