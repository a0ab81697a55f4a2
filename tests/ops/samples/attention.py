"""Samples of scaled_dot_product_attention."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("scaled_dot_product_attention")
def scaled_dot_product_attention(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 3, 4), make(2, 5, 4), make(2, 5, 2))
    yield SampleInput(make(1, 2, 3, 4), make(1, 2, 5, 4), make(1, 2, 5, 4), make(3, 5, requires_grad=False))
    yield SampleInput(make(2, 2, 4), make(2, 2, 4), make(2, 2, 4), None, 0.0, True, scale=0.3)
    mask = make.tensor([[True, False, True], [False, True, True]], "bool")
    yield SampleInput(make(2, 2, 4), make(2, 3, 4), make(2, 3, 4), mask)
    yield SampleInput(make(1, 4, 2, 3), make(1, 2, 2, 3), make(1, 2, 2, 3), enable_gqa=True)
    yield SampleInput(make(1, 1, 4, 3), make(1, 1, 5, 3), make(1, 1, 5, 3), mask[:1, :1], 0.0, True)
    yield SampleInput(make(1, 2, 35, 4), make(1, 2, 9, 4), make(1, 2, 9, 4))


@error_samples("scaled_dot_product_attention")
def scaled_dot_product_attention_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 4), make(3, 4), make(3, 4), make(2, 3), 0.0, True), RuntimeError, "is_causal"
    )
    yield ErrorInput(SampleInput(make(2, 4), make(3, 4, dtype="float64"), make(3, 4)), RuntimeError, "dtype")
    yield ErrorInput(
        SampleInput(make(2, 4), make(3, 4), make(3, 4), make.integers(2, 3, high=2)),
        RuntimeError,
        "attn_mask",
    )
