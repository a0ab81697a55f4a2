"""Boxed calls: an operator's object gives what its function gives, also through a dispatch mode in Python."""

from __future__ import annotations

from typing import Any

from tests.ops.calling import call
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_LIMIT = 12  # samples per operator
# Their functions take a tensor without dimensions for a number, and so another overload.
_CHOSEN_BY_NUMBER = frozenset(["_foreach_add.Tensor"])


def copied(sample: SampleInput) -> SampleInput:
    return sample.map(lambda tensor: tensor.detach().clone())


def by_overload(operator: Operator, torch: Any, sample: SampleInput) -> Any:
    """The call, boxed. What functions accept beyond the schema is not for overloads."""
    overload = torch._ops.find_overload(str(operator))
    optional = {a.name for a in overload._schema.arguments if a.type.endswith("?")}
    arguments = operator.bind(sample)
    assert arguments is not None
    return overload(**{name: v for name, v in arguments.items() if v is not None or name in optional})


def seeded(function: Any, operator: Operator, sample: SampleInput) -> Any:
    torch.manual_seed(0)
    for value in sample.kwargs.values():
        if isinstance(value, torch.Generator):
            value.manual_seed(0)
    return function(operator, torch, sample)


@enrolled(lambda operator: str(operator) not in {*WITHOUT_VALUES, *_CHOSEN_BY_NUMBER})
def test_boxed_equals_unboxed(operator: Operator):
    from torch_py.utils._python_dispatch import BaseTorchDispatchMode

    samples = operator.typical_samples(torch)[:_LIMIT]
    compared = 0
    for sample in samples:
        plain = copied(sample)
        boxed = copied(sample)
        seen = copied(sample)
        expected = outcome(seeded, call, operator, plain)
        if expected.error is not None:
            continue

        from_overload = seeded(by_overload, operator, boxed)
        with BaseTorchDispatchMode():
            through_mode = seeded(call, operator, seen)

        # Functions of lists return the list that they wrote to; their operators return nothing.
        if operator.schema.returns:
            assert_same(from_overload, expected.result, f"boxed: {operator}{sample}", strides=True)
        assert_same(through_mode, expected.result, f"in a mode: {operator}{sample}", strides=True)

        for copy, how in ((boxed, "boxed"), (seen, "in a mode")):
            assert_same(copy.positional, plain.positional, f"arguments, {how}: {operator}{sample}")
        compared += 1
    assert compared > 0 or not samples, f"no sample of {operator} can be called"
