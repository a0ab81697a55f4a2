"""Decompositions: the composition or formula of each operator computes what the operator does."""

from __future__ import annotations

import functools
from typing import Any

from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_LIMIT = 6  # samples per operator


@functools.cache
def table() -> dict[Any, Any]:
    from torch_py._decomp import decomposition_table

    return decomposition_table


def overload_of(operator: Operator) -> Any:
    return torch._ops.find_overload(str(operator))


def seeded(function: Any, operator: Operator, sample: SampleInput) -> Any:
    """Calls with the arguments that the schema names."""
    torch.manual_seed(0)
    for value in sample.kwargs.values():
        if isinstance(value, torch.Generator):
            value.manual_seed(0)

    optional = {a.name for a in overload_of(operator)._schema.arguments if a.type.endswith("?")}
    arguments = operator.bind(sample)
    assert arguments is not None
    return function(**{name: v for name, v in arguments.items() if v is not None or name in optional})


def copied(sample: SampleInput) -> SampleInput:
    return sample.map(lambda tensor: tensor.detach().clone())


@enrolled(lambda operator: str(operator) not in WITHOUT_VALUES and overload_of(operator) in table())
def test_a_decomposition_computes_what_the_operator_does(operator: Operator):
    overload = overload_of(operator)
    for sample in operator.typical_samples(torch)[:_LIMIT]:
        plain, decomposed = copied(sample), copied(sample)
        expected = outcome(seeded, overload, operator, plain)
        if expected.error is not None:
            continue
        result = seeded(table()[overload], operator, decomposed)
        assert_same(result, expected.result, f"decomposed: {operator}{sample}")
        assert_same(decomposed.positional, plain.positional, f"arguments of {operator}{sample}")
