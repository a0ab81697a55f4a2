"""Normalisation, attention, dropout, bags of embeddings."""

from __future__ import annotations

from collections.abc import Iterator

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples


@samples("rms_norm")
def rms_norm(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(3, 4), (4,), None, 1e-5)
    yield SampleInput(make(3, 4), (4,), make(4), 1e-5)
    yield SampleInput(make(2, 3, 4), (3, 4), make(3, 4))
    yield SampleInput(make(4, 3, layout="transposed"), (3,), make(3), 1e-3)
    yield SampleInput(make(0, 4), (4,), None, 1e-5)


@error_samples("rms_norm")
def rms_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(3, 4), (3,)), RuntimeError, "normalized_shape")
    yield ErrorInput(SampleInput(make(3, 4), ()), RuntimeError, "normalized_shape")
    yield ErrorInput(SampleInput(make(3, 4), (4,), make(3)), RuntimeError, "weight")


@samples("instance_norm")
def instance_norm(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 3, 5), None, None, None, None, True, 0.1, 1e-5, False)
    yield SampleInput(make(2, 3, 2, 2), make(3), make(3), None, None, True, 0.1, 1e-3, False)
    running = make(3, requires_grad=False), make(3, low=0.5, high=2.0, requires_grad=False)
    yield SampleInput(make(2, 3, 4), make(3), make(3), *running, False, 0.1, 1e-5, False)


@error_samples("instance_norm")
def instance_norm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(
        SampleInput(make(2, 3, 4), None, None, None, None, False, 0.1, 1e-5, False),
        RuntimeError,
        "running_mean",
    )


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


@samples("feature_dropout")
def feature_dropout(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    yield SampleInput(make(2, 3, 4), 0.5, False)
    yield SampleInput(make(2, 3, 4), 0.0, True)
    yield SampleInput(make(2, 3), 1.0, True)


@error_samples("feature_dropout")
def feature_dropout_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(2, 3), 1.5, True), RuntimeError, "1.5")


@samples("embedding_renorm")
def embedding_renorm(make: Make) -> Iterator[SampleInput]:
    if make.is_floating:
        yield SampleInput(make(4, 3), make.values([0, 2, 2], "int64"), 1.0, 2.0)
        yield SampleInput(make(4, 3), make.values([[3], [1]], "int64"), 0.5, 1.0)


@error_samples("embedding_renorm")
def embedding_renorm_errors(make: Make) -> Iterator[ErrorInput]:
    yield ErrorInput(SampleInput(make(4), make.values([0], "int64"), 1.0, 2.0), RuntimeError, "2-D|2D")


@samples("embedding_bag")
def embedding_bag(make: Make) -> Iterator[SampleInput]:
    if not make.is_floating:
        return
    indices, offsets = make.values([0, 2, 1, 3, 3], "int64"), make.values([0, 2, 2], "int64")
    for mode in (0, 1, 2):
        yield SampleInput(make(4, 3, distinct=True), indices, offsets, False, mode)
        yield SampleInput(
            make(4, 3, distinct=True),
            indices,
            make.values([0, 2, 5], "int64"),
            False,
            mode,
            False,
            None,
            True,
        )
        yield SampleInput(make(4, 3, distinct=True), indices, offsets, False, mode, False, None, False, 3)
    yield SampleInput(make(4, 3), indices, offsets, False, 0, False, make(5))


@error_samples("embedding_bag")
def embedding_bag_errors(make: Make) -> Iterator[ErrorInput]:
    indices = make.values([0, 2, 1], "int64")
    yield ErrorInput(SampleInput(make(4, 3), indices, make.values([1], "int64")), RuntimeError, "offsets")
    yield ErrorInput(SampleInput(make(4, 3), indices, make.values([0, 4], "int64")), RuntimeError, "offsets")
    yield ErrorInput(
        SampleInput(make(4, 3), indices, make.values([0], "int64"), False, 1, False, make(3)),
        RuntimeError,
        "mode",
    )
