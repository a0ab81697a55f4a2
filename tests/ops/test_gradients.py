"""First and second derivatives against differences, in float64 and complex128."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.ops.calling import call, inplace, tensors_of
from tests.ops.comparison import outcome
from tests.ops.known_differences import ONCE_DIFFERENTIABLE
from tests.ops.operators import Operator, enrolled, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

# Second derivatives take a Jacobian of a Jacobian: small samples, a few of them.
_LARGEST = 40
_SECOND_SAMPLES = 6


def gradient_dtypes(operator: Operator) -> list[str]:
    """Operators without ``dtypes:`` are differentiated by the operators that they call, which are tried with complex numbers."""
    return [dtype for dtype in ("float64", "complex128") if dtype in (operator.dtypes or ["float64"])]


def differentiable_samples(operator: Operator, dtype: str) -> list[SampleInput]:
    return [sample for sample in operator.samples(torch, dtype, requires_grad=True) if inputs_of(sample)]


def inputs_of(sample: SampleInput) -> list[Any]:
    """Each tensor once, however often it is an argument."""
    found: dict[int, Any] = {id(tensor): tensor for tensor in sample.tensors() if tensor.requires_grad}
    return list(found.values())


def as_function(operator: Operator, sample: SampleInput, form: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the differentiable tensors only, returning what is differentiable of the result."""
    positions = {id(tensor): index for index, tensor in enumerate(inputs_of(sample))}

    def function(*inputs: Any) -> Any:
        called = sample.map(lambda tensor: inputs[positions[id(tensor)]] if id(tensor) in positions else tensor)
        if operator.is_mutation or form is inplace:
            called.input = called.input.clone()
        results = [item for item in tensors_of(form(operator, torch, called)) if item.is_floating_point() or item.is_complex()]
        return results[0] if len(results) == 1 else tuple(results)

    return function


def has_gradient(function: Callable[..., Any], inputs: Sequence[Any]) -> bool:
    result = outcome(lambda: function(*inputs))
    assert result.error is None, f"{type(result.error).__name__}: {result.error}"
    return any(item.requires_grad for item in tensors_of(result.result))


def check(operator: Operator, sample: SampleInput, form: Callable[..., Any] = call) -> None:
    inputs, function = inputs_of(sample), as_function(operator, sample, form)
    if not has_gradient(function, inputs):
        assert all(derivative["formula"] is None for derivative in operator.derivatives.values()) or WITH_PEER, "nothing requires grad"
    try:
        torch.autograd.gradcheck(function, inputs, check_undefined_grad=False)
    except Exception as error:
        raise AssertionError(f"{operator}{sample}: {type(error).__name__}: {error}") from error


@enrolled_with_dtypes(gradient_dtypes, lambda operator: operator.is_differentiable)
def test_first_derivatives(operator: Operator, dtype: str):
    for sample in differentiable_samples(operator, dtype):
        check(operator, sample)


@enrolled(lambda operator: operator.is_differentiable and "inplace" in operator.variants)
def test_derivatives_in_place(operator: Operator):
    for sample in differentiable_samples(operator, "float64"):
        expected = outcome(lambda sample=sample: call(operator, torch, sample).shape)
        if hasattr(sample.input, "stride") and sample.input.requires_grad and expected.result == sample.input.shape:
            check(operator, sample, inplace)
            return


@enrolled_with_dtypes(gradient_dtypes, lambda operator: operator.is_differentiable)
def test_second_derivatives(operator: Operator, dtype: str):
    if str(operator) in ONCE_DIFFERENTIABLE:
        pytest.skip(ONCE_DIFFERENTIABLE[str(operator)])
    tried = 0
    for sample in differentiable_samples(operator, dtype):
        inputs, function = inputs_of(sample), as_function(operator, sample, call)
        size = sum(math.prod(tensor.shape) for tensor in inputs)
        if tried >= _SECOND_SAMPLES or size > _LARGEST * (tried == 0) + _LARGEST or not has_gradient(function, inputs):
            continue
        tried += 1
        try:
            torch.autograd.gradgradcheck(function, inputs, fast_mode=True, check_undefined_grad=False)
        except Exception as error:
            raise AssertionError(f"{operator}{sample}: {type(error).__name__}: {error}") from error


@enrolled(lambda operator: operator.is_differentiable)
def test_gradients_have_the_layout_of_their_inputs(operator: Operator):
    """Shape, dtype and device, in float32 and where the inputs are strided."""
    for sample in differentiable_samples(operator, "float32")[:6]:
        inputs = inputs_of(sample)
        outputs = [item for item in tensors_of(as_function(operator, sample, call)(*inputs)) if item.requires_grad]
        if not outputs:
            continue
        weights = [torch.ones_like(output) for output in outputs]
        gradients = torch.autograd.grad(outputs, inputs, weights, allow_unused=True)
        for gradient, tensor in zip(gradients, inputs):
            if gradient is not None:
                assert gradient.shape == tensor.shape, f"{operator}{sample}: gradient of shape {gradient.shape}"
                assert gradient.dtype == tensor.dtype, f"{operator}{sample}: gradient of dtype {gradient.dtype}"


@enrolled(lambda operator: not operator.is_differentiable and operator.makes_tensors and not operator.is_mutation)
def test_non_differentiable_results_do_not_require_grad(operator: Operator):
    for sample in operator.samples(torch, "float32", requires_grad=True) if operator.takes("float32") else []:
        for result in tensors_of(call(operator, torch, sample)):
            assert not result.requires_grad or WITH_PEER, f"{operator}{sample}"
