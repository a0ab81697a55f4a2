"""Forward mode agrees with reverse mode, and vmap with a loop, for every operator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import outcome
from tests.ops.known_differences import ONCE_DIFFERENTIABLE, WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.ops.test_gradients import as_function, differentiable_samples, inputs_of
from tests.subject import WITH_PEER, torch

pytestmark = pytest.mark.skipif(
    WITH_PEER, reason="PyTorch lacks forward derivatives and batching rules of some operators"
)
_SAMPLES = 6
_SAMPLES_OF_ONE = 3
_NOT_FOR_BATCHES = {
    "item": "needs values",
    "nonzero": "its shape depends on values",
    "masked_select": "its shape depends on values",
    "where": "its shape depends on values",
    "equal": "needs values",
    "allclose": "needs values",
    "resize_": "does not depend on values",
    "set_.source_Tensor": "does not depend on values",
    "as_strided": "an offset counts from the start of the storage, which all members share",
    "as_strided_copy": "an offset counts from the start of the storage, which all members share",
    **WITHOUT_VALUES,
}


def directions(tensors: list[Any], seed: int) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(tuple(t.shape), dtype=t.dtype, generator=generator) for t in tensors]


def inner(left: list[Any], right: list[Any]) -> float:
    return sum((a.conj() * b).sum().real.item() for a, b in zip(left, right) if a is not None)


@enrolled(lambda operator: operator.is_differentiable)
def test_forward_mode_agrees_with_reverse_mode(operator: Operator):
    """Re <w, J v> = Re <J^H w, v>."""
    if str(operator) in ONCE_DIFFERENTIABLE:  # forward mode differentiates the gradient
        pytest.skip(ONCE_DIFFERENTIABLE[str(operator)])

    tried = 0
    for sample in differentiable_samples(operator, "float64")[:_SAMPLES]:
        sources = inputs_of(sample)
        function = as_function(operator, sample, call)
        expected = outcome(function, *sources)
        outputs = tensors_of(expected.result) if expected.error is None else []
        outputs = [o for o in outputs if o.requires_grad]

        if not outputs:
            continue

        tried += 1
        moved, weights = directions(sources, 1), directions(outputs, 2)
        back = torch.autograd.grad(outputs, sources, weights, allow_unused=True)

        primals = tuple(s.detach() for s in sources)
        _, forward = torch.func.jvp(
            lambda *inputs, function=function: tensors_of(function(*inputs)), primals, tuple(moved)
        )

        kept = [t for t, o in zip(forward, tensors_of(expected.result)) if o.requires_grad]
        left, right = inner(weights, kept), inner(back, moved)
        assert left == pytest.approx(right, rel=1e-6, abs=1e-7) or (left != left and right != right), (
            f"{operator}{sample}: {left} {right}"
        )

    if not tried:
        pytest.skip("no sample has a gradient")


@enrolled(lambda operator: operator.is_differentiable)
def test_a_batch_of_gradients_equals_a_loop(operator: Operator):
    """torch.autograd.grad with is_grads_batched."""
    tried = 0
    for sample in differentiable_samples(operator, "float64")[:_SAMPLES]:
        sources = inputs_of(sample)
        expected = outcome(as_function(operator, sample, call), *sources)
        outputs = tensors_of(expected.result) if expected.error is None else []
        outputs = [o for o in outputs if o.requires_grad]

        if not outputs:
            continue

        tried += 1
        rows = [directions(outputs, seed) for seed in (1, 2)]
        single = [
            torch.autograd.grad(outputs, sources, row, retain_graph=True, allow_unused=True) for row in rows
        ]
        weights = [torch.stack(column) for column in zip(*rows)]
        found = torch.autograd.grad(outputs, sources, weights, allow_unused=True, is_grads_batched=True)
        for value, *column in zip(found, *single):
            assert (value is None) == (column[0] is None), f"{operator}{sample}"
            if value is not None:
                torch.testing.assert_close(
                    value,
                    torch.stack(column),
                    rtol=1e-9,
                    atol=1e-9,
                    equal_nan=True,
                    msg=lambda m, sample=sample: f"{operator}{sample}: {m}",
                )

    if not tried:
        pytest.skip("no sample has a gradient")


def two_of(tensor: Any) -> Any:
    """A second member of the batch: the same numbers in other places, which stay inside the domain."""
    if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.numel() < 2:
        return torch.stack([tensor, tensor])
    return torch.stack([tensor, tensor.reshape(-1).roll(1).reshape(tensor.shape)])


def takes_batches(operator: Operator) -> bool:
    return (
        operator.makes_tensors
        and not operator.is_random
        and not operator.is_mutation
        and str(operator) not in _NOT_FOR_BATCHES
    )


def assert_vmap_equals_a_loop(
    operator: Operator, sample: SampleInput, tensors: list[Any], in_dims: tuple[int | None, ...]
) -> bool:
    """Whether the sample has members to compare, which are then equal."""
    function = of_tensors(operator, sample)
    rows = [outcome(function, *(t if d is None else t[i] for t, d in zip(tensors, in_dims))) for i in (0, 1)]
    if any(row.error is not None for row in rows) or not all(row.result for row in rows):
        return False
    if any(a.shape != b.shape for a, b in zip(rows[0].result, rows[1].result)):
        return False

    found = torch.vmap(function, in_dims)(*tensors)
    for position, value in enumerate(found):
        wanted = torch.stack([row.result[position] for row in rows])
        assert value.dtype == wanted.dtype, f"{operator}{sample}: {value.dtype}, not {wanted.dtype}"
        torch.testing.assert_close(
            value,
            wanted,
            rtol=1e-5,
            atol=1e-6,
            equal_nan=True,
            msg=lambda m: f"{operator}{sample}, in_dims={in_dims}: {m}",
        )
    return True


@enrolled(takes_batches)
def test_vmap_equals_a_loop(operator: Operator):
    tried = 0
    for sample in operator.typical_samples(torch)[:_SAMPLES]:
        tensors = sample.tensors()
        if tensors:
            batches = [two_of(t) for t in tensors]
            tried += assert_vmap_equals_a_loop(operator, sample, batches, (0,) * len(tensors))

    if not tried:
        pytest.skip("no sample for a batch")


@enrolled(lambda operator: takes_batches(operator) and operator.base_name != "batch_norm_update_stats")
def test_vmap_over_one_argument_equals_a_loop(operator: Operator):
    """Of operators that do not write to what the members share."""
    tried = 0
    for sample in operator.typical_samples(torch)[:_SAMPLES_OF_ONE]:
        tensors = sample.tensors()
        for mapped in range(len(tensors) if len(tensors) > 1 else 0):
            given = [two_of(t) if i == mapped else t for i, t in enumerate(tensors)]
            in_dims = tuple(0 if i == mapped else None for i in range(len(tensors)))
            tried += assert_vmap_equals_a_loop(operator, sample, given, in_dims)

    if not tried:
        pytest.skip("no sample of several tensors")


def of_tensors(operator: Operator, sample: SampleInput) -> Any:
    positions = {id(tensor): index for index, tensor in enumerate(sample.tensors())}

    def function(*tensors: Any) -> Any:
        return tuple(tensors_of(call(operator, torch, sample.map(lambda t: tensors[positions[id(t)]]))))

    return function
