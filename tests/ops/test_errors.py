"""Wrong calls raise PyTorch's exceptions, with messages that name the operator and the mistake."""

from __future__ import annotations

import re
from typing import Any

import pytest

from codegen.schema import Argument
from tests.ops.calling import call, function_of, inplace, is_only_in_aten, method_parts, python_name
from tests.ops.comparison import outcome, to_numpy
from tests.ops.operators import DTYPES, Operator, all_operators, enrolled
from tests.ops.samples import ErrorInput, SampleInput
from tests.subject import WITH_PEER, torch


class Wrong:
    """An object that no argument accepts."""


def overloads_of(operator: Operator) -> int:
    return sum(other.base_name == operator.base_name for other in all_operators())


# Error samples


@enrolled(lambda operator: bool(operator.errors(torch)))
def test_error_samples(operator: Operator):
    problems = []
    for error in operator.errors(torch):
        before = [to_numpy(tensor).copy() for tensor in error.sample.tensors()]
        found = outcome(call, operator, torch, error.sample).error
        if WITH_PEER and isinstance(found, NotImplementedError):
            continue

        problem = objection(error, found)
        if problem is not None:
            problems.append(f"{operator}{error.sample}: {problem}")

        for tensor, values in zip(error.sample.tensors(), before if not WITH_PEER else []):
            same = (to_numpy(tensor) == values) | (values != values)
            assert same.all(), f"{operator}{error.sample}: an argument was changed by a call that failed"

    assert not problems, "\n".join(problems)


def objection(error: ErrorInput, found: Exception | None) -> str | None:
    """Why an exception is wrong, or None if it is right. The wording of PyTorch is not compared."""
    if found is None:
        return f"raised nothing, expected {error.error.__name__}"
    if type(found) is not error.error:
        return f"raised {type(found).__name__}, expected {error.error.__name__}: {found}"
    if not WITH_PEER and re.search(error.message, str(found)) is None:
        return f"expected a message that matches {error.message!r}, got {found}"
    return None


# Schemas


def first_call(operator: Operator) -> SampleInput:
    return operator.typical_samples(torch)[0]


def expect_type_error(operator: Operator, sample: SampleInput) -> str:
    if WITH_PEER and is_only_in_aten(operator):
        pytest.skip("not a function of PyTorch's Python")
    done = outcome(call, operator, torch, sample)
    if done.result is NotImplemented and operator.base_name.startswith("__"):
        pytest.skip("methods of Python's operators leave a wrong operand to the other side")
    found = done.error
    assert type(found) is TypeError, (
        f"{operator}{sample}: expected TypeError, got {type(found).__name__}: {found}"
    )
    if not WITH_PEER:
        # Python words the errors of its own operators, and PyTorch those of list elements.
        is_named = (
            python_name(operator) in str(found)
            or operator.base_name.startswith("__")
            or "expected Tensor as element" in str(found)
        )
        assert is_named, f"{operator}{sample}: the message does not name the operator: {found}"
    return str(found)


@enrolled()
def test_too_many_arguments(operator: Operator):
    sample = first_call(operator)
    extra = [Wrong()] * (len(operator.schema.arguments.positional) + 3)
    expect_type_error(operator, SampleInput(*sample.positional, *extra, **sample.kwargs))


@enrolled()
def test_unknown_keyword(operator: Operator):
    sample = first_call(operator)
    message = expect_type_error(
        operator, SampleInput(*sample.positional, **sample.kwargs, no_such_argument=1)
    )
    if not WITH_PEER:
        is_said = "no_such_argument" in message or "no keyword arguments" in message
        assert is_said or overloads_of(operator) > 1, message


@enrolled(
    lambda operator: any(not argument.has_default for argument in operator.schema.arguments.positional[1:])
)
def test_missing_argument(operator: Operator):
    if "function" not in operator.variants or (WITH_PEER and is_only_in_aten(operator)):
        return
    function = function_of(operator, torch)
    assert function is not None
    with pytest.raises(TypeError) as caught:
        function()
    assert WITH_PEER or python_name(operator) in str(caught.value)


@enrolled()
def test_wrong_type_of_each_argument(operator: Operator):
    """Calls with positional arguments in their places and the others by name."""
    sample = first_call(operator)
    values = operator.bind(sample)
    assert values is not None
    for argument in operator.schema.arguments.flat_non_out:
        wrong = with_wrong(operator, sample, argument)
        if wrong is None:
            continue
        message = expect_type_error(operator, wrong)
        if not WITH_PEER and overloads_of(operator) == 1:
            name = "input" if argument.name == "self" and argument.type.is_plain("Tensor") else argument.name
            assert name in message, f"{operator}: the message does not name '{name}': {message}"


def with_wrong(operator: Operator, sample: SampleInput, argument: Argument) -> SampleInput | None:
    """The call with an invalid value for one argument; None for self of a method or impossible keywords."""
    positional = operator.schema.arguments.positional
    given: list[Any] = list(sample.positional)
    if argument in positional and positional.index(argument) < len(given):
        own = operator.schema.arguments.self_argument
        if argument is own and "function" not in operator.variants:
            return None
        given[positional.index(argument)] = Wrong()
        return SampleInput(*given, **sample.kwargs)
    return SampleInput(*given, **{**sample.kwargs, argument.name: Wrong()})


@enrolled(lambda operator: bool(operator.dtypes) and operator.structure != "dynamic")
def test_refuses_other_dtypes(operator: Operator):
    """A dtype outside ``dtypes:`` raises an error that names it, instead of giving a wrong result."""
    if WITH_PEER:
        pytest.skip("PyTorch takes other dtypes")

    for dtype in DTYPES:
        if operator.takes(dtype):
            continue

        for sample in operator.samples(torch, dtype):
            tensors = sample.tensors()
            if not tensors or any(
                tensor.numel() == 0 or tensor.dtype is not getattr(torch, dtype) for tensor in tensors
            ):
                continue
            if any(name in sample.kwargs for name in ("dtype",)) or len(sample.positional) > len(tensors):
                continue

            found = outcome(call, operator, torch, sample).error
            assert isinstance(found, RuntimeError), (
                f"{operator}{sample}: expected an error for {dtype}, got {found!r}"
            )
            break


@enrolled(lambda operator: "inplace" in operator.variants and operator.structure == "pointwise")
def test_in_place_on_repeated_elements_is_refused(operator: Operator):
    """Elements that share memory cannot each hold a result."""
    sample = first_call(operator)
    if method_parts(operator, sample) is None or sample.input.dim() == 0:
        return
    repeated = sample.input.detach().clone()[:1].expand(sample.input.shape)
    with pytest.raises(RuntimeError, match="single memory location"):
        inplace(operator, torch, SampleInput(repeated, *sample.args, **sample.kwargs))


@enrolled(lambda operator: "inplace" in operator.variants and operator.structure == "pointwise")
def test_in_place_on_overlapping_memory_is_refused(operator: Operator):
    """A shifted view of the output as an argument would be read after it has changed."""
    sample = next((sample for sample in operator.typical_samples(torch) if len(sample.tensors()) > 1), None)
    if sample is None or len(operator.schema.arguments.tensors) < 2:
        return
    memory = torch.ones(9, dtype=sample.tensors()[0].dtype)
    rest = SampleInput(*sample.args, **sample.kwargs).map(lambda tensor: memory[1:])
    done = outcome(inplace, operator, torch, SampleInput(memory[:-1], *rest.positional, **rest.kwargs))
    assert isinstance(done.error, RuntimeError) and "memory location" in str(done.error), (
        f"{operator}: {done}"
    )


@enrolled(lambda operator: "inplace" in operator.variants and operator.is_differentiable)
def test_in_place_on_a_leaf_is_refused(operator: Operator):
    """The change would overwrite the values that the gradient of the leaf belongs to."""
    sample = first_call(operator)
    if method_parts(operator, sample) is None or not sample.input.is_floating_point():
        return
    leaf = sample.input.detach().clone().requires_grad_()
    with pytest.raises(RuntimeError, match="leaf"):
        inplace(operator, torch, SampleInput(leaf, *sample.args, **sample.kwargs))
