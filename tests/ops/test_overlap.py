"""Writing to memory that overlaps is refused without elements as it is with them.

A program that is recorded on tensors without elements would otherwise go on where the real one raises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.ops.calling import call, inplace, method_parts
from tests.ops.comparison import Outcome, outcome
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.ops.test_meta import on_meta
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

Move = Callable[[Any], Any]


def writes_to_self(operator: Operator) -> bool:
    return bool(operator.is_mutation or "inplace" in operator.variants)


def compare(operator: Operator, sample: SampleInput, arrange: Callable[[SampleInput, Move], Any]) -> None:
    """Makes the call on the CPU and without elements. `arrange` lets tensors overlap."""
    form = call if operator.is_mutation else inplace
    real, without_elements = (
        outcome(form, operator, torch, arrange(sample, move)) for move in (torch.clone, on_meta)
    )
    if is_refusal(real):
        assert without_elements.error is not None, f"{operator}{sample}: {real.error}; accepted on meta"
    else:
        assert not is_refusal(without_elements), f"{operator}{sample} on meta: {without_elements.error}"


def is_refusal(found: Outcome) -> bool:
    return "memory location" in str(found.error)


@enrolled(writes_to_self)
def test_expanded_memory(operator: Operator) -> None:
    for sample in operator.typical_samples(torch):
        parts = method_parts(operator, sample)
        if parts is None or parts[0].dim() == 0 or parts[0].shape[0] < 2:
            continue

        def arrange(sample: SampleInput, move: Move, own: Any = parts[0]) -> SampleInput:
            return sample.map(
                lambda tensor: move(tensor)[:1].expand(own.shape) if tensor is own else move(tensor)
            )

        compare(operator, sample, arrange)


@enrolled(writes_to_self)
def test_shifted_memory(operator: Operator) -> None:
    """The other tensors begin one element after `self`."""
    for sample in operator.typical_samples(torch):
        parts = method_parts(operator, sample)
        if parts is None:
            continue

        def arrange(sample: SampleInput, move: Move, own: Any = parts[0]) -> SampleInput:
            memory = move(torch.ones(9, dtype=own.dtype))
            return sample.map(lambda tensor: memory[:-1] if tensor is own else memory[1:])

        compare(operator, sample, arrange)


def test_masks_that_overlap() -> None:
    for move in (torch.clone, on_meta):
        memory = move(torch.ones(9, dtype=torch.bool))
        found = outcome(memory[:-1].masked_fill_, memory[1:], False)
        assert is_refusal(found), (move, found)


def test_a_copy_to_itself_may_overlap() -> None:
    for move in (torch.clone, on_meta):
        expanded = move(torch.ones(1)).expand(3)
        assert expanded.copy_(expanded) is expanded


def test_copies_and_random_numbers_need_distinct_elements() -> None:
    for move in (torch.clone, on_meta):
        expanded = move(torch.ones(2, 1)).expand(2, 3)
        for write in (
            lambda: expanded.copy_(torch.ones(2, 3)),  # noqa: B023
            lambda: expanded.uniform_(),  # noqa: B023
            lambda: expanded.index_copy_(0, move(torch.tensor([0])), move(torch.ones(1, 3))),  # noqa: B023
        ):
            assert is_refusal(outcome(write)), move
        assert outcome(lambda: expanded.fill_(2)).error is None  # noqa: B023
