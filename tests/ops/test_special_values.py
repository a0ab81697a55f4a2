"""Infinities, nan, signed zeros, denormal and huge numbers: operators end in time, pointwise ones agree with
PyTorch, and so do their gradients."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.ops.calling import call, exists_in, tensors_of
from tests.ops.comparison import assert_close, dtype_name, outcome, to_numpy
from tests.ops.known_differences import NOT_COMPARED, ONCE_DIFFERENTIABLE
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.ops.samples.registry import is_tensor
from tests.ops.special_values import (
    DIFFERENT,
    ENDLESS_IN_PYTORCH,
    FLOATS,
    INTEGERS,
    REFUSED,
    all_pairs,
    numbers,
    tensor_places,
    with_elements,
)
from tests.subject import WITH_PEER, torch

# A call takes microseconds. A kernel cannot be interrupted: past this the process ends, and says where.
_SECONDS = 60
_CALLS = 8  # with different numbers among the arguments


@pytest.fixture
def time_limit() -> Iterator[None]:
    faulthandler.dump_traceback_later(_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture(scope="module")
def peer() -> Any:
    module = pytest.importorskip("torch", reason="PyTorch is not installed")
    if WITH_PEER:
        pytest.skip("PyTorch would be compared with itself")
    return module


def is_pointwise(operator: Operator) -> bool:
    return operator.structure == "pointwise" and not operator.is_random and not operator.schema.is_mutable


def special_calls(operator: Operator, dtype: str) -> Iterator[tuple[SampleInput, list[int], list[Any]]]:
    """The different calls among the samples, the places of their tensors, and what to put there."""
    seen = set()
    for sample in operator.samples(torch, dtype):
        places = tensor_places(sample, dtype)
        rest = [value for place, value in enumerate(sample.positional) if place not in places]
        key = repr((places, rest, sample.kwargs))

        if places and key not in seen and len(seen) < _CALLS:
            seen.add(key)
            yield sample, places, all_pairs(dtype, len(places))


def gradients(module: Any, result: Any, inputs: list[Any]) -> list[Any]:
    results = [tensor for tensor in tensors_of(result) if tensor.requires_grad]
    if not results:
        return []
    return list(module.autograd.grad([tensor.sum() for tensor in results], inputs, allow_unused=True))


@enrolled(is_pointwise)
def test_equals_pytorch(operator: Operator, peer: Any, time_limit: None):
    if not exists_in(operator, peer) or ENDLESS_IN_PYTORCH.fullmatch(str(operator)):
        pytest.skip("PyTorch has no such operator, or does not return")

    problems = []
    for dtype in (*FLOATS, *INTEGERS):
        key = (str(operator), dtype)
        if not operator.takes(dtype) or key in NOT_COMPARED or key in REFUSED:
            continue
        for sample, places, columns in special_calls(operator, dtype):
            problems += list(differences(operator, dtype, sample, places, columns, peer))

    assert not problems, f"{len(problems)} differences\n" + "\n".join(problems[:12])


def differences(
    operator: Operator, dtype: str, sample: SampleInput, places: list[int], columns: list[Any], peer: Any
) -> Iterator[str]:
    # Gradients in float16 and bfloat16 are rounded at each step, which are others.
    differentiable = operator.is_differentiable and dtype in ("float32", "float64")
    done = []

    for module in (torch, peer):
        made = with_elements(sample, places, columns, module, dtype, differentiable)
        inputs = [made.positional[place] for place in places]
        result = outcome(call, operator, module, made)
        grads = outcome(gradients, module, result.result, inputs) if differentiable else None
        done.append((result, grads))

    (ours, our_grads), (theirs, their_grads) = done
    context = f"{operator}({dtype}{sample})"
    if isinstance(theirs.error, NotImplementedError):
        return
    if (ours.error is None) != (theirs.error is None):
        yield f"{context}: {ours.error}, PyTorch: {theirs.error}"
    if ours.error is not None or theirs.error is not None:
        return

    for found, expected in zip(tensors_of(ours.result), tensors_of(theirs.result), strict=True):
        yield from unequal(operator, "result", found, expected, columns, context)

    if our_grads is None or their_grads is None or our_grads.error or their_grads.error:
        return
    for place, (found, expected) in enumerate(zip(our_grads.result, their_grads.result)):
        if found is not None and expected is not None:
            yield from unequal(operator, "gradient", found, expected, columns, f"{context}: gradient {place}")


def unequal(
    operator: Operator, part: str, found: Any, expected: Any, columns: list[Any], context: str
) -> Iterator[str]:
    if dtype_name(found) != dtype_name(expected):
        yield f"{context}: dtype {dtype_name(found)}, expected {dtype_name(expected)}"
        return

    compared = np.ones(len(columns[0]), dtype=bool)
    with np.errstate(all="ignore"):
        for row in DIFFERENT:
            if columns[0].dtype.kind == "f" and row.covers(str(operator), part):
                compared &= ~row.where(*columns)

    try:
        assert_close(to_numpy(found)[compared], to_numpy(expected)[compared], dtype_name(found), "")
    except AssertionError as error:
        place = np.argmax(~np.isclose(to_numpy(found), to_numpy(expected), 1e-5, 0, True) & compared)
        yield f"{context}: at {[column[place] for column in columns]}{error}"


@enrolled()
def test_ends_in_time(operator: Operator, time_limit: None):
    """Forward, backward and the gradient of the gradient, whatever the values are."""
    for dtype in ("float32", "float64"):
        for sample in operator.samples(torch, dtype, requires_grad=True)[:_CALLS]:
            call_with_special_values(operator, sample)


def call_with_special_values(operator: Operator, sample: SampleInput) -> None:
    made = sample.map(filled)
    if operator.is_mutation:
        made.clone_input()
    result = outcome(call, operator, torch, made).result
    inputs = [tensor for tensor in made.tensors() if tensor.requires_grad]
    results = [tensor for tensor in tensors_of(result) if tensor.requires_grad]
    if not results or not inputs or str(operator) in ONCE_DIFFERENTIABLE:
        return

    def twice() -> None:
        total = sum(tensor.abs().sum() for tensor in results)
        first = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
        again = [tensor.abs().sum() for tensor in first if tensor is not None and tensor.requires_grad]
        if again:
            torch.autograd.grad(again, inputs, allow_unused=True)

    outcome(twice)


def filled(tensor: Any) -> Any:
    """A tensor of the same shape with special values; integers, which may be indices, stay."""
    if not is_tensor(tensor) or not tensor.is_floating_point() or tensor.numel() == 0:
        return tensor
    values = np.resize(numbers(dtype_name(tensor)), tuple(tensor.shape))
    made = torch.from_numpy(values).to(tensor.dtype)
    return made.requires_grad_(tensor.requires_grad)
