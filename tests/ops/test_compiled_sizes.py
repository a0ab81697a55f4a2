"""Every operator, compiled once for samples of several sizes, gives what its calls give."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.ops.calling import call
from tests.ops.comparison import assert_same, outcome
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import SampleInput
from tests.ops.test_fake import copies, seed
from tests.subject import only_torch_py, torch

pytestmark = [only_torch_py, pytest.mark.filterwarnings("ignore")]

_SAMPLES = 1  # of an operator


def tensors_in(sample: SampleInput) -> list[Any]:
    found: list[Any] = []
    sample.map(found.append)
    return found


def resized(sample: SampleInput, change: Callable[[int], int]) -> SampleInput:
    """The sample with other sizes, equal ones of which stay equal; elements come again where there are more.

    Sizes of 0 and 1 stay: they have a meaning of their own.
    """

    def larger(tensor: Any) -> Any:
        for dim, size in enumerate(tensor.shape):
            if size > 1:
                tensor = tensor.index_select(dim, torch.arange(change(size)) % size)
        return tensor

    return sample.map(larger)


def variants(operator: Operator) -> Iterator[list[SampleInput]]:
    """Samples, each with itself for other sizes; the code is made for all sizes with the second."""
    samples = operator.typical_samples(torch)
    varying = [s for s in samples if any(size > 1 for tensor in tensors_in(s) for size in tensor.shape)]
    for sample in varying[:_SAMPLES]:
        with contextlib.suppress(RuntimeError, NotImplementedError):  # of layouts without index_select
            yield [sample, *(resized(sample, change) for change in (lambda n: n + 1, lambda n: 2 * n + 1))]


@enrolled(lambda operator: str(operator) not in WITHOUT_VALUES)
def test_operators_for_sizes_that_vary(operator: Operator):
    for samples in variants(operator):
        torch._dynamo.reset()
        first = samples[0]

        def function(*tensors: Any, first: SampleInput = first) -> Any:
            rest = iter(tensors)
            return call(operator, torch, first.map(lambda _: next(rest)))

        compiled = torch.compile(function, backend="aot_eager")
        for sample in samples:
            seed(sample)
            given = tensors_in(copies(sample))
            expected = outcome(function, *given)
            seed(sample)
            own = tensors_in(copies(sample))
            found = outcome(compiled, *own)

            context = f"compiled for several sizes: {operator}{sample}"
            assert (found.error is None) == (expected.error is None), f"{context}: {found.error}"
            assert_same([found.result], [expected.result], context, strides=True)
            assert_same(own, given, f"arguments of {context}")
