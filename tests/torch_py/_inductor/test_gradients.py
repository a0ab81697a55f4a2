"""The gradients of every operator, compiled, are those of eager mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ops.calling import call
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch
from tests.torch_py._inductor.test_operators import leaves, seed, tensors_in, with_tensors

pytestmark = only_torch_py

_LIMIT = 2  # samples per operator


def has_gradients(operator: Operator) -> bool:
    return operator.is_differentiable and not operator.is_mutation and str(operator) not in WITHOUT_VALUES


def arguments_of(sample: SampleInput) -> list[Any]:
    """Copies of a sample's tensors, of which the floating-point ones require gradients."""
    found = [tensor.detach().clone() for tensor in tensors_in(sample)]
    return [tensor.requires_grad_() if tensor.is_floating_point() else tensor for tensor in found]


def function_of(operator: Operator, sample: SampleInput) -> Callable[..., Any]:
    def function(*tensors: Any) -> Any:
        return leaves(call(operator, torch, with_tensors(sample, list(tensors))))

    return function


def gradients(results: list[Any], arguments: list[Any]) -> list[Any]:
    """Of a weighted sum of the results."""
    outputs = [r for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    inputs = [a for a in arguments if a.requires_grad]
    weights = [torch.linspace(0.5, 1.5, o.numel(), dtype=o.dtype).reshape(o.shape) for o in outputs]
    return list(torch.autograd.grad(outputs, inputs, weights, allow_unused=True)) if outputs else []


@enrolled(has_gradients)
def test_compiled_gradients_are_those_of_eager(operator: Operator) -> None:
    from torch_py._functorch.aot import aot_function
    from torch_py._functorch.compilers import nop
    from torch_py._inductor.compile_fx import compile_fx_inner

    samples = [s for s in operator.typical_samples(torch) if any(t.numel() > 1 for t in tensors_in(s))]
    for sample in samples[:_LIMIT]:
        function = function_of(operator, sample)

        def eager(arguments: list[Any], function: Callable[..., Any] = function) -> list[Any]:
            return gradients(function(*arguments), arguments)

        seed(sample)
        expected = outcome(eager, arguments_of(sample))
        if expected.error is not None or not expected.result:
            continue
        traced = outcome(aot_function(function, fw_compiler=nop), *arguments_of(sample))
        if traced.error is not None:
            continue  # such as sizes that depend on numbers, of which the tests of aot are

        seed(sample)
        own = arguments_of(sample)
        compiled = aot_function(function, fw_compiler=compile_fx_inner)
        found = gradients(compiled(*own), own)
        assert_same(found, expected.result, f"gradients of {operator}{sample}")


@pytest.mark.parametrize("columns", [3, 5, 6, 7, 12, 17])
def test_selections_next_to_sums(columns: int):
    """GCC 12 compiled the choice of a gradient that it might skip to read wrongly."""

    def function(x: Any) -> Any:
        return x.softmax(-1), torch.where(x > 0, x, -1.5)

    x = torch.randn(4, columns, requires_grad=True)
    given = [torch.rand(4, columns), torch.rand(4, columns)]
    expected = torch.autograd.grad(function(x), x, given)
    found = torch.autograd.grad(torch.compile(function)(x), x, given)
    torch.testing.assert_close(found, expected)


@pytest.mark.parametrize("width", range(2, 17))
def test_selections_in_short_loops(width: int):
    """GCC 12 took zeros for gradients of relu in some of these."""

    def program(x: Any, w: Any) -> Any:
        y = (w + x) * x
        return torch.where(y > 0, y, -1.5), torch.relu(x)

    gradients = []
    for function in (program, torch.compile(program)):
        x = torch.linspace(-2, 2, 6 * width).reshape(6, width).requires_grad_()
        results = function(x, torch.linspace(-1, 1, width))
        torch.autograd.backward(results, [torch.ones(6, width), torch.full((6, width), 3.0)])
        gradients.append(x.grad)
    assert torch.allclose(*gradients)
