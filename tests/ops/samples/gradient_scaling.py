"""Samples of the operators behind GradScaler: gradients, scales and non-finite values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.ops.samples.make import Make
from tests.ops.samples.registry import ErrorInput, SampleInput, error_samples, samples

_FACTORS = (2.0, 0.5, 2)


def _number(make: Make, value: float, dtype: str = "float32") -> Any:
    return make.torch.tensor(value, dtype=getattr(make.torch, dtype), device=make.device)


@samples("amp_unscale")
def amp_unscale(make: Make) -> Iterator[SampleInput]:
    if make.requires_grad or not make.is_floating:
        return
    yield SampleInput([make(2, 3), make(), make(5, layout="strided")], _number(make, 0.0), _number(make, 0.5))
    yield SampleInput(
        [make(2, 3), make.extremes(), make(0)], make(1, dtype="float32") * 0, _number(make, 0.25)
    )
    yield SampleInput([make(2, 3)], _number(make, 1.0), _number(make, 1.0))
    yield SampleInput([make.values([1.0, float("nan")])], _number(make, 0.0), _number(make, 1.0))


@error_samples("amp_unscale")
def amp_unscale_errors(make: Make) -> Iterator[ErrorInput]:
    one = _number(make, 1.0)

    yield ErrorInput(
        SampleInput([make(2)], make(2), one),
        RuntimeError,
        r"found_inf must have one element, but has sizes \[2\]",
    )
    yield ErrorInput(SampleInput([make(2)], one, make(2)), RuntimeError, "inv_scale must have one element")
    yield ErrorInput(
        SampleInput([make(2)], _number(make, 0, "int32"), one),
        RuntimeError,
        "found_inf must be a float tensor",
    )
    yield ErrorInput(
        SampleInput([make(2), make(2, dtype="int64")], one, one), NotImplementedError, r"Long.*self\[1\]"
    )


@samples("amp_update_scale")
def amp_update_scale(make: Make) -> Iterator[SampleInput]:
    if make.requires_grad or make.dtype_name != "float32":
        return
    for scale, count, found in ((8.0, 0, 0.0), (8.0, 1, 0.0), (8.0, 1, 1.0), (3e38, 1, 0.0)):
        yield SampleInput(
            _number(make, scale), _number(make, count, "int32"), _number(make, found), *_FACTORS
        )


@error_samples("amp_update_scale")
def amp_update_scale_errors(make: Make) -> Iterator[ErrorInput]:
    one, count = _number(make, 1.0), _number(make, 0, "int32")
    yield ErrorInput(SampleInput(make(2), count, one, *_FACTORS), RuntimeError, "self must have one element")
    yield ErrorInput(
        SampleInput(one, one, one, *_FACTORS),
        RuntimeError,
        "growth_tracker must be an int tensor, but has dtype Float",
    )
    yield ErrorInput(
        SampleInput(one, count, make(2), *_FACTORS), RuntimeError, "found_inf must have one element"
    )
