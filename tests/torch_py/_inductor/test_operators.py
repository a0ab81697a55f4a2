"""Every operator, compiled, computes what it computes in eager mode."""

from __future__ import annotations

from typing import Any

from tests.ops.calling import call
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_LIMIT = 8  # samples per operator
# Recorded with fake tensors, it gives a float64 for a float32 and a float64 without dimensions; called, a
# float32.
_OTHER_DTYPE = frozenset(["_foreach_add.Tensor"])


def tensors_in(sample: SampleInput) -> list[Any]:
    found: list[Any] = []
    sample.map(lambda tensor: found.append(tensor) or tensor)
    return found


def copied(sample: SampleInput) -> list[Any]:
    return [tensor.detach().clone() for tensor in tensors_in(sample)]


def with_tensors(sample: SampleInput, tensors: list[Any]) -> SampleInput:
    """The sample with other tensors."""
    rest = iter(tensors)
    return sample.map(lambda tensor: next(rest))


def seed(sample: SampleInput) -> None:
    torch.manual_seed(0)
    for value in sample.kwargs.values():
        if isinstance(value, torch.Generator):
            value.manual_seed(0)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value]


def recorded(operator: Operator, sample: SampleInput) -> Any:
    """The operators of a call, None where fake tensors cannot say what comes out."""
    from torch_py.fx.experimental.proxy_tensor import make_fx

    def function(*tensors: Any) -> Any:
        return call(operator, torch, with_tensors(sample, list(tensors)))

    seed(sample)
    found = outcome(make_fx(function, tracing_mode="fake"), *copied(sample))
    return found.result


@enrolled(lambda operator: str(operator) not in {*WITHOUT_VALUES, *_OTHER_DTYPE})
def test_a_compiled_operator_computes_the_same(operator: Operator):
    from torch_py._inductor.stages import compile_graph

    for sample in operator.typical_samples(torch)[:_LIMIT]:
        seed(sample)
        arguments = copied(sample)
        expected = outcome(call, operator, torch, with_tensors(sample, arguments))
        graph = recorded(operator, sample) if expected.error is None else None
        if graph is None:
            continue

        seed(sample)
        own = copied(sample)
        compiled = compile_graph(graph)
        results = compiled(*own)
        context = f"compiled: {operator}{sample}\n{compiled.source}"
        wanted = [leaf for leaf in leaves(expected.result) if isinstance(leaf, torch.Tensor)]
        found = [result for result in results if isinstance(result, torch.Tensor)]
        assert_same(found, wanted, context, strides=True)
        assert_same(own, arguments, f"arguments of {context}")
