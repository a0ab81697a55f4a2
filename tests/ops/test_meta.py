"""Every operator with device='meta' gives the shape, dtype and strides of the CPU result."""

from __future__ import annotations

from typing import Any

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import dtype_name, outcome, significant_strides
from tests.ops.known_differences import SHARED_MEMORY
from tests.ops.operators import Operator, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

_DTYPES = ("float32", "int64", "bool")


def dtypes(operator: Operator) -> list[str]:
    return [dtype for dtype in _DTYPES if operator.takes(dtype)]


def has_meta(operator: Operator) -> bool:
    """Whether the operator makes tensors whose shape does not depend on data."""
    if str(operator) in SHARED_MEMORY:
        return False
    return operator.structure != "dynamic" and operator.makes_tensors


def on_meta(tensor: Any) -> Any:
    """A tensor without data, of the same memory layout."""
    return torch.empty_strided(tuple(tensor.shape), tuple(tensor.stride()), dtype=tensor.dtype, device="meta")


def moved(operator: Operator, sample: SampleInput) -> SampleInput:
    """The call on meta tensors; operators that make tensors from nothing are told the device."""
    result = sample.map(on_meta)
    if operator.is_factory:
        result.kwargs["device"] = "meta"
    return result


@enrolled_with_dtypes(dtypes, has_meta)
def test_meta_agrees_with_cpu(operator: Operator, dtype: str):
    compared = 0
    for sample in operator.samples(torch, dtype):
        on_device = moved(operator, sample)  # before the call, which may change the shape of an argument

        expected = outcome(call, operator, torch, sample)
        if expected.error is not None or moves_devices(operator):
            continue

        found = outcome(call, operator, torch, on_device)
        if depends_on_values(operator, found.error) or (WITH_PEER and found.error is not None):
            continue

        assert found.error is None, f"{operator}{sample} on meta: {type(found.error).__name__}: {found.error}"
        for ours, theirs in zip(tensors_of(found.result), tensors_of(expected.result), strict=True):
            context = f"{operator}{sample} on meta"
            assert ours.device.type == "meta", f"{context}: the result is on {ours.device}"
            assert tuple(ours.shape) == tuple(theirs.shape), (
                f"{context}: shape {tuple(ours.shape)}, on the CPU {tuple(theirs.shape)}"
            )
            assert ours.dtype == theirs.dtype, (
                f"{context}: dtype {dtype_name(ours)}, on the CPU {dtype_name(theirs)}"
            )
            if not WITH_PEER:
                assert significant_strides(ours) == significant_strides(theirs), (
                    f"{context}: strides {ours.stride()}, on the CPU {theirs.stride()}"
                )

        compared += 1

    # These have no float32 samples at all.
    only_complex = operator.base_name in ("view_as_real", "view_as_real_copy")
    assert compared or dtype != "float32" or only_complex or skips_everything(operator), (
        f"nothing of {operator} was compared"
    )


def moves_devices(operator: Operator) -> bool:
    return (
        any(argument.type.base.name == "Device" for argument in operator.schema.arguments)
        and not operator.is_factory
    )


def depends_on_values(operator: Operator, error: Exception | None) -> bool:
    """Whether a composite failed because it called an operator without a meta kernel.

    Such operators have results that depend on data.
    """
    is_refusal = isinstance(error, NotImplementedError) or (
        isinstance(error, RuntimeError) and "meta" in str(error)
    )
    return is_refusal and (operator.structure == "composite" or WITH_PEER)


def skips_everything(operator: Operator) -> bool:
    return operator.structure == "composite" or WITH_PEER
