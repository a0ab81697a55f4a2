"""Fake tensors: every operator gives on them the shape, dtype, strides, device and aliases of its real result."""

from __future__ import annotations

from typing import Any

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import dtype_name, outcome, significant_strides
from tests.ops.operators import Operator, enrolled, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_DTYPES = ("float32", "int64", "bool")

# Operators whose results follow from elements, so that fake arguments are refused (in some calls, for
# composites).
DATA_DEPENDENT: frozenset[str] = frozenset()


def dtypes(operator: Operator) -> list[str]:
    return [dtype for dtype in _DTYPES if operator.takes(dtype)]


def fake_mode() -> Any:
    from torch_py._subclasses import FakeTensorMode

    return FakeTensorMode()


def is_refusal(error: Exception | None) -> bool:
    from torch_py._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

    return isinstance(error, (DataDependentOutputException, DynamicOutputShapeException))


def copies(sample: SampleInput) -> SampleInput:
    """The same call on memory of its own, with the strides of the sample."""

    def copy(tensor: Any) -> Any:
        memory = tensor.untyped_storage().clone()
        twin = torch.empty(0, dtype=tensor.dtype)
        twin.set_(memory, tensor.storage_offset(), tensor.shape, tensor.stride())
        return twin.requires_grad_(tensor.requires_grad)

    return sample.map(copy)


def place(tensor: Any) -> Any:
    return tensor.untyped_storage()._cdata if tensor.numel() else None


def aliases(tensors: list[Any]) -> list[tuple[int, int]]:
    """The pairs of tensors that share memory."""
    places = [place(tensor) for tensor in tensors]
    return [
        (i, j)
        for i, first in enumerate(places)
        for j, second in enumerate(places[:i])
        if first is not None and first == second
    ]


def compare(found: list[Any], expected: list[Any], context: str) -> None:
    assert len(found) == len(expected), f"{context}: {len(found)} results, expected {len(expected)}"
    for fake, real in zip(found, expected):
        assert type(fake).__name__ == "FakeTensor", f"{context}: the result is a {type(fake).__name__}"
        assert tuple(fake.shape) == tuple(real.shape), f"{context}: {tuple(fake.shape)}, not {tuple(real.shape)}"
        assert dtype_name(fake) == dtype_name(real), f"{context}: {fake.dtype}, not {real.dtype}"
        assert fake.device == real.device, f"{context}: on {fake.device}, not {real.device}"
        assert significant_strides(fake) == significant_strides(real), (
            f"{context}: strides {fake.stride()} of shape {tuple(real.shape)}, not {real.stride()}"
        )


@enrolled_with_dtypes(dtypes)
def test_fake_results_are_like_real_ones(operator: Operator, dtype: str):
    for sample in operator.samples(torch, dtype):
        context = f"{operator}{sample}, fake"
        real = copies(sample)
        mode = fake_mode()
        fake = real.map(mode.from_tensor)

        expected = outcome(call, operator, torch, real)
        if expected.error is not None:
            continue
        with mode:
            found = outcome(call, operator, torch, fake)

        if is_refusal(found.error) and str(operator) in DATA_DEPENDENT:
            continue
        assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"

        results = tensors_of(expected.result)
        compare(tensors_of(found.result), results, context)
        shared = aliases([*tensors_of(found.result), *fake.tensors()])
        assert shared == aliases([*results, *real.tensors()]), f"{context}: other tensors share memory"
        if not operator.makes_tensors:
            assert type(found.result) is type(expected.result), context


@enrolled(lambda operator: operator.is_differentiable)
def test_fake_gradients_are_like_real_ones(operator: Operator):
    for sample in operator.samples(torch, "float32", requires_grad=True)[:6]:
        context = f"{operator}{sample}, backward of fake"
        real = copies(sample)
        mode = fake_mode()
        fake = real.map(mode.from_tensor)

        expected = outcome(gradients, operator, real)
        if expected.error is not None:
            continue
        found = outcome(gradients, operator, fake)
        if is_refusal(found.error) and str(operator) in DATA_DEPENDENT:
            continue
        assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"
        assert [gradient is None for gradient in found.result] == [g is None for g in expected.result], context
        compare([g for g in found.result if g is not None], [g for g in expected.result if g is not None], context)


def gradients(operator: Operator, sample: SampleInput) -> list[Any]:
    inputs = [tensor for tensor in sample.tensors() if tensor.requires_grad]
    if operator.is_mutation:
        sample.clone_input()
    outputs = [item for item in tensors_of(call(operator, torch, sample)) if item.requires_grad]
    if not outputs:
        return []
    weights = [torch.ones_like(output) for output in outputs]
    return list(torch.autograd.grad(outputs, inputs, weights, allow_unused=True))
