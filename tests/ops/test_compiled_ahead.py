"""Every operator, compiled ahead of time, gives the results, gradients and changed arguments of its call."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.ops.calling import call, inplace, tensors_of
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.ops.test_fake import copies, is_refusal, seed
from tests.subject import only_torch_py, torch

pytestmark = [only_torch_py, pytest.mark.filterwarnings("ignore")]

_SAMPLES = 4
_EXCLUDED = {*WITHOUT_VALUES, "from_file"}
# Arguments keep their sizes and their memory.
_OTHER_MEMORY = re.compile("resize_|resize_as_|set_([.].*)?")


def settings() -> dict[str, dict[str, Any]]:
    """How `aot_function` is called: as the backends aot_eager and aot_eager_decomp_partition do."""
    from torch_py._decomp import core_aten_decompositions
    from torch_py._functorch.aot import min_cut_rematerialization_partition

    return {
        "default": {},
        "least_memory": {
            "partition_fn": min_cut_rematerialization_partition,
            "decompositions": core_aten_decompositions(),
        },
    }


def compiled(function: Callable[..., Any], setting: str) -> Callable[..., Any]:
    from torch_py._functorch.aot import aot_function

    return aot_function(function, lambda graph, inputs: graph, **settings()[setting])


def run(function: Callable[..., Any], operator: Operator, sample: SampleInput) -> list[Any]:
    """Results, arguments afterwards and gradients."""
    seed(sample)
    own = copies(sample)
    inputs = own.tensors()
    results = function(*inputs)
    outputs = [item for item in tensors_of(results) if item.requires_grad]

    wanted = [tensor for tensor in inputs if tensor.requires_grad and tensor.is_leaf]
    if outputs and wanted:
        torch.autograd.backward(outputs, [torch.ones_like(output) for output in outputs])
    return [results, [tensor.detach() for tensor in inputs], [tensor.grad for tensor in wanted]]


def compare(operator: Operator, sample: SampleInput, form: Callable[..., Any], setting: str) -> None:
    def function(*tensors: Any) -> Any:
        rest = iter(tensors)
        return form(operator, torch, sample.map(lambda tensor: next(rest)))

    expected = outcome(run, function, operator, sample)
    if expected.error is not None:
        return
    found = outcome(run, compiled(function, setting), operator, sample)
    if is_refusal(operator, found.error):
        return

    if _OTHER_MEMORY.fullmatch(str(operator)):
        assert isinstance(found.error, NotImplementedError)
        assert re.search("gives an argument of the program|reaches by as_strided", str(found.error))
        return

    context = f"compiled ahead of time: {operator}{sample}"
    assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"
    assert_same(found.result, expected.result, context, strides=True)


@pytest.mark.parametrize("setting", ["default", "least_memory"])
@enrolled(lambda operator: str(operator) not in _EXCLUDED)
def test_operators(operator: Operator, setting: str):
    if operator.is_differentiable:
        samples = operator.samples(torch, "float32", requires_grad=True)
    else:
        samples = operator.typical_samples(torch)
    for sample in samples[:_SAMPLES]:
        compare(operator, sample, call, setting)


@enrolled(lambda operator: "inplace" in operator.variants and str(operator) not in _EXCLUDED)
def test_in_place_forms(operator: Operator):
    for sample in operator.typical_samples(torch)[:_SAMPLES]:
        compare(operator, sample, inplace, "default")
