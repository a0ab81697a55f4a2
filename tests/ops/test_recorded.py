"""Recorded calls: `make_fx` gives a graph of each operator that computes what the call did."""

from __future__ import annotations

from typing import Any

from tests.ops.calling import call
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_LIMIT = 6  # samples per operator


def tensors_in(sample: SampleInput) -> list[Any]:
    found: list[Any] = []
    sample.map(lambda tensor: found.append(tensor) or tensor)
    return found


def seeded(operator: Operator, sample: SampleInput) -> Any:
    torch.manual_seed(0)
    for value in sample.kwargs.values():
        if isinstance(value, torch.Generator):
            value.manual_seed(0)
    return call(operator, torch, sample)


@enrolled(lambda operator: str(operator) not in WITHOUT_VALUES)
def test_a_recorded_call_replays(operator: Operator):
    from torch_py.fx.experimental.proxy_tensor import make_fx

    for sample in operator.typical_samples(torch)[:_LIMIT]:
        expected = outcome(seeded, operator, sample.map(lambda tensor: tensor.detach().clone()))
        if expected.error is not None:
            continue

        def function(*tensors: Any, sample: SampleInput = sample) -> Any:
            rest = iter(tensors)
            return seeded(operator, sample.map(lambda tensor: next(rest)))

        graph = make_fx(function)(*[tensor.detach().clone() for tensor in tensors_in(sample)])
        torch.manual_seed(0)
        for value in sample.kwargs.values():
            if isinstance(value, torch.Generator):
                value.manual_seed(0)
        replayed = graph(*[tensor.detach().clone() for tensor in tensors_in(sample)])
        assert_same(replayed, expected.result, f"recorded: {operator}{sample}", strides=True)
