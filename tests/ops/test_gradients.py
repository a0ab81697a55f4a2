"""First and second derivatives, compared with finite differences in float64 and complex128."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from tests.ops.calling import call, inplace, tensors_of
from tests.ops.comparison import outcome
from tests.ops.known_differences import HERMITIAN_INPUT, MISTAKES_OF_PYTORCH, ONCE_DIFFERENTIABLE, UP_TO_PHASE
from tests.ops.operators import Operator, enrolled, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.subject import WITH_PEER, torch

# Larger Jacobians are checked along one random direction.
_LARGEST_JACOBIAN = 400
# Second derivatives need a Jacobian of a Jacobian: a few small samples.
_LARGEST = 40
_SECOND_SAMPLES = 6


def gradient_dtypes(operator: Operator) -> list[str]:
    """The dtypes to differentiate in.

    Operators without ``dtypes:`` leave complex numbers to the operators that they call.
    """
    return [dtype for dtype in ("float64", "complex128") if dtype in (operator.dtypes or ["float64"])]


def differentiable_samples(operator: Operator, dtype: str) -> list[SampleInput]:
    return [sample for sample in operator.samples(torch, dtype, requires_grad=True) if inputs_of(sample)]


def inputs_of(sample: SampleInput) -> list[Any]:
    """The differentiable tensors, each once, however often it is an argument."""
    found: dict[int, Any] = {id(tensor): tensor for tensor in sample.tensors() if tensor.requires_grad}
    return list(found.values())


def as_function(operator: Operator, sample: SampleInput, form: Callable[..., Any]) -> Callable[..., Any]:
    """The call as a function of its differentiable tensors, returning the differentiable results.

    Results in float32 and narrower are left out: finite differences do not survive the rounding.
    """
    positions = {id(tensor): index for index, tensor in enumerate(inputs_of(sample))}

    def function(*inputs: Any) -> Any:
        called = sample.map(
            lambda tensor: inputs[positions[id(tensor)]] if id(tensor) in positions else tensor
        )

        if operator.is_mutation or form is inplace:
            called.clone_input()
        if str(operator) in HERMITIAN_INPUT:
            called.input = (called.input + called.input.transpose(-2, -1).conj()) / 2

        results = [
            item
            for item in tensors_of(form(operator, torch, called))
            if item.dtype in (torch.float64, torch.complex128)
        ]

        if str(operator) in UP_TO_PHASE:
            results = [item.abs() if item.is_complex() else item for item in results]

        return results[0] if len(results) == 1 else tuple(results)

    return function


def results_of(operator: Operator, function: Callable[..., Any], sample: SampleInput) -> list[Any]:
    result = outcome(function, *inputs_of(sample))
    assert result.error is None, f"{operator}{sample}: {type(result.error).__name__}: {result.error}"
    return tensors_of(result.result)


def skip_mistakes_of_pytorch(operator: Operator) -> None:
    if WITH_PEER and str(operator) in MISTAKES_OF_PYTORCH:
        pytest.skip(MISTAKES_OF_PYTORCH[str(operator)])


def check(operator: Operator, sample: SampleInput, form: Callable[..., Any] = call) -> None:
    inputs = inputs_of(sample)
    function = as_function(operator, sample, form)
    results = results_of(operator, function, sample)
    if not results:
        return

    assert WITH_PEER or any(result.requires_grad for result in results), (
        f"{operator}{sample}: nothing requires grad"
    )

    elements = sum(math.prod(tensor.shape) for tensor in inputs) * sum(
        math.prod(result.shape) for result in results
    )
    compare(torch.autograd.gradcheck, function, f"{operator}{sample}", inputs, elements > _LARGEST_JACOBIAN)


def compare(
    checker: Callable[..., bool], function: Callable[..., Any], context: str, inputs: list[Any], fast: bool
) -> None:
    try:
        checker(function, inputs, check_undefined_grad=False, fast_mode=fast)
    except Exception as error:
        if WITH_PEER and "not implemented" in str(error):
            pytest.skip("PyTorch has no such derivative")
        raise AssertionError(f"{context}: {type(error).__name__}: {error}") from error


@enrolled_with_dtypes(gradient_dtypes, lambda operator: operator.is_differentiable)
def test_first_derivatives(operator: Operator, dtype: str):
    skip_mistakes_of_pytorch(operator)
    for sample in differentiable_samples(operator, dtype):
        check(operator, sample)


@enrolled(lambda operator: operator.is_differentiable and "inplace" in operator.variants)
def test_derivatives_in_place(operator: Operator):
    samples = [
        s
        for s in differentiable_samples(operator, "float64")
        if hasattr(s.input, "stride") and s.input.requires_grad
    ]

    if not samples:
        pytest.skip("what is changed has no gradient")

    for sample in samples:
        result = outcome(call, operator, torch, sample).result
        if result is not None and result.shape == sample.input.shape:
            check(operator, sample, inplace)
            return

    pytest.fail(f"no sample of {operator} has a gradient in place")


@enrolled_with_dtypes(gradient_dtypes, lambda operator: operator.is_differentiable)
def test_second_derivatives(operator: Operator, dtype: str):
    skip_mistakes_of_pytorch(operator)
    if str(operator) in ONCE_DIFFERENTIABLE:
        pytest.skip(ONCE_DIFFERENTIABLE[str(operator)])

    tried = 0
    for sample in differentiable_samples(operator, dtype):
        inputs = inputs_of(sample)
        function = as_function(operator, sample, call)
        size = sum(math.prod(tensor.shape) for tensor in inputs)
        if tried >= _SECOND_SAMPLES or size > _LARGEST * (tried == 0) + _LARGEST:
            continue

        if not any(result.requires_grad for result in results_of(operator, function, sample)):
            continue
        tried += 1
        compare(torch.autograd.gradgradcheck, function, f"{operator}{sample}", inputs, True)


@enrolled(lambda operator: operator.is_differentiable)
def test_gradients_have_the_layout_of_their_inputs(operator: Operator):
    """Gradients have the shape, dtype and device of their inputs, in float32 and for strided inputs."""
    skip_mistakes_of_pytorch(operator)

    for sample in differentiable_samples(operator, "float32")[:6]:
        inputs = inputs_of(sample)
        if operator.is_mutation:
            sample.clone_input()

        outputs = [item for item in tensors_of(call(operator, torch, sample)) if item.requires_grad]
        if not outputs:
            continue

        weights = [torch.ones_like(output) for output in outputs]
        gradients = torch.autograd.grad(outputs, inputs, weights, allow_unused=True)

        for gradient, tensor in zip(gradients, inputs):
            if gradient is not None:
                assert gradient.shape == tensor.shape, (
                    f"{operator}{sample}: gradient of shape {gradient.shape}"
                )
                assert gradient.dtype == tensor.dtype, (
                    f"{operator}{sample}: gradient of dtype {gradient.dtype}"
                )


@enrolled(
    lambda operator: (
        operator.row["gradient"] == "none" and operator.makes_tensors and not operator.is_mutation
    )
)
def test_non_differentiable_results_do_not_require_grad(operator: Operator):
    for sample in operator.samples(torch, "float32", requires_grad=True) if operator.takes("float32") else []:
        for result in tensors_of(call(operator, torch, sample)):
            assert not result.requires_grad or WITH_PEER, f"{operator}{sample}"


def real_sum(tensor: Any) -> Any:
    """Complex results of real matrices give a real loss, too."""
    return tensor.sum().real if tensor.is_complex() else tensor.sum()


@enrolled(lambda operator: operator.is_differentiable and not operator.is_mutation)
def test_results_may_be_changed(operator: Operator):
    """An in-place change of a result keeps its gradient, or raises if the gradient needs the old result."""
    skip_mistakes_of_pytorch(operator)
    for sample in differentiable_samples(operator, "float64")[:3]:
        inputs = inputs_of(sample)
        # Results may be views of inputs; these are not leaves, so the change is allowed.
        made = {id(tensor): tensor * 1 for tensor in inputs}
        called = sample.map(lambda tensor: made.get(id(tensor), tensor))  # noqa: B023
        results = [item for item in tensors_of(call(operator, torch, called)) if item.requires_grad]
        if len(results) != 1:
            continue
        ones = torch.ones_like(results[0])
        expected = torch.autograd.grad(results[0], inputs, ones, allow_unused=True, retain_graph=True)
        try:
            results[0].mul_(1)
            found = torch.autograd.grad(results[0], inputs, ones, allow_unused=True)
        except RuntimeError as error:
            assert "modified by an inplace operation" in str(error) or "more than one element" in str(
                error
            ), f"{operator}{sample}: {error}"
            continue
        for before, after in zip(expected, found):
            assert (before is None) == (after is None), f"{operator}{sample}"
            assert before is None or torch.equal(before, after) or bool(before.isnan().any()), (
                f"{operator}{sample}"
            )
