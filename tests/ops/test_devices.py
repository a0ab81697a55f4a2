"""Calls with tensors on several devices are refused, and the message names the devices."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.ops.calling import call, inplace, method_parts, tensors_of
from tests.ops.comparison import outcome
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

# Operators that accept some tensors on any device, or do not read them.
TAKES_SEVERAL_DEVICES = {
    "_pack_padded_sequence": "lengths are on the CPU",
    "_pad_packed_sequence": "lengths are on the CPU",
    "meshgrid.indexing": "views of each tensor",
    "slice_inverse": "looks at the shape of the other tensor",
    "is_set_to": "compares memory and shape",
    "is_same_size": "compares shapes",
    "expand_as": "looks at the shape of the other tensor",
    "view_as": "looks at the shape of the other tensor",
    "reshape_as": "looks at the shape of the other tensor",
    "resize_as_": "looks at the shape of the other tensor",
    "type_as": "converts to the dtype and device of the other tensor",
    "to.other": "goes to the device of the other tensor",
    "result_type.Tensor": "looks at dtypes",
}


def several_tensors(operator: Operator) -> bool:
    """Whether the operator takes several tensors.

    List operators are left out: each of their calls reads its own tensors.
    """
    if operator.called is not None:
        return False
    return len(operator.schema.arguments.tensors) > 1 or any(
        a.type.is_list for a in operator.schema.arguments.tensors
    )


def with_one_on_meta(sample: SampleInput, position: int) -> SampleInput:
    count = iter(range(len(sample.tensors())))
    return sample.map(lambda tensor: tensor.to("meta") if next(count) == position else tensor)


def typical_call(operator: Operator) -> SampleInput | None:
    """The first sample with several tensors, none of them a number or empty."""
    for sample in operator.typical_samples(torch):
        tensors = sample.tensors()
        if len(tensors) > 1 and all(tensor.dim() > 0 and tensor.numel() > 0 for tensor in tensors):
            return sample
    return None


@enrolled(several_tensors)
def test_tensors_on_several_devices_are_refused(operator: Operator):
    if WITH_PEER:
        pytest.skip("PyTorch reads nothing where a tensor is on meta, or too much")
    sample = typical_call(operator)
    if sample is None or str(operator) in TAKES_SEVERAL_DEVICES:
        return
    for position in range(len(sample.tensors())):
        expect_refusal(operator, with_one_on_meta(sample, position), call)
        if "inplace" in operator.variants and method_parts(operator, sample) is not None:
            expect_refusal(operator, with_one_on_meta(sample, position), inplace)


def expect_refusal(operator: Operator, sample: SampleInput, form: Any) -> None:
    done = outcome(form, operator, torch, sample)
    devices = [tensor.device.type for tensor in sample.tensors()]
    context = f"{operator}{sample} on {devices}"
    if done.error is None:
        results = tensors_of(done.result)
        assert results and all(result.device.type == "meta" for result in results), f"{context}: accepted"
        return
    assert isinstance(done.error, RuntimeError), f"{context}: {type(done.error).__name__}: {done.error}"
    assert re.search("device|meta|backend|not available on", str(done.error)), (
        f"{context}: the message names no device: {done.error}"
    )
