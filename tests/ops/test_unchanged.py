"""Calls keep their inputs, do not depend on the number of threads, and free their memory."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import assert_same, outcome, to_numpy
from tests.ops.operators import Operator, enrolled
from tests.ops.samples import Make, SampleInput
from tests.subject import only_torch_py, torch

_CALLS = 100


def writes_to_inputs(operator: Operator) -> bool:
    """Whether the operator writes to arguments by its nature, or updates statistics."""
    return operator.is_mutation or operator.schema.arguments.find("running_mean") is not None


@enrolled(lambda operator: not writes_to_inputs(operator))
def test_inputs_are_not_modified(operator: Operator):
    for dtype in operator.dtypes_under_test()[:2]:
        for sample in operator.samples(torch, dtype):
            tensors = sample.tensors()
            before = [
                (to_numpy(tensor).copy(), tensor._version, tuple(tensor.stride())) for tensor in tensors
            ]

            if outcome(call, operator, torch, sample).error is not None:
                continue

            for tensor, (values, version, strides) in zip(tensors, before):
                assert np.array_equal(to_numpy(tensor), values, equal_nan=values.dtype.kind in "fc"), (
                    f"{operator}{sample} changed an argument"
                )
                assert tensor._version == version, (
                    f"{operator}{sample}: version {version} became {tensor._version}"
                )
                assert tuple(tensor.stride()) == strides


@only_torch_py
@enrolled(
    lambda operator: not operator.is_mutation and operator.structure in ("pointwise", "reduction", "shaped")
)
def test_results_have_memory_of_their_own(operator: Operator):
    """A write to a result does not reach an argument."""
    for sample in operator.typical_samples(torch)[:6]:
        storages = {tensor.untyped_storage().data_ptr() for tensor in sample.tensors() if tensor.numel() > 0}
        done = outcome(call, operator, torch, sample)
        for result in tensors_of(done.result):
            assert result.numel() == 0 or result.untyped_storage().data_ptr() not in storages, (
                f"{operator}{sample} aliases an argument"
            )


# Threads. The tensors are larger than the smallest part that one thread gets.


def large(name: str) -> Make:
    return Make(torch, "float32", "cpu", False, seed=name)


@pytest.fixture
def restored_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@only_torch_py
@enrolled(lambda operator: operator.structure == "pointwise" and operator.takes("float32"))
def test_pointwise_with_threads(operator: Operator, restored_threads: None):
    """Results are equal to the bit, whichever thread computes an element."""
    make = large(operator.base_name)
    tensors = [
        make(257, 401, low=0.1, high=0.9, layout="transposed" if index else "contiguous")
        for index in range(3)
    ]

    count = len(operator.schema.arguments.tensors)
    required = [argument for argument in operator.schema.arguments.flat_non_out if not argument.has_default]
    sample = SampleInput(*tensors[:count])
    if (
        any(not argument.type.is_tensor_like for argument in required)
        or outcome(call, operator, torch, sample).error is not None
    ):
        return  # needs other arguments than tensors

    compare_threads(lambda: call(operator, torch, sample), str(operator), exactly=True)


def compare_threads(function, context: str, exactly: bool) -> None:
    torch.set_num_threads(1)
    alone = function()
    torch.set_num_threads(2)
    together = function()
    for first, second in zip(tensors_of(alone), tensors_of(together), strict=True):
        if exactly:
            assert np.array_equal(to_numpy(first), to_numpy(second), equal_nan=True), (
                f"{context} depends on the number of threads"
            )
        else:
            assert_same(first, second, f"{context} with two threads")


_CALLS_WITH_THREADS = {
    "sum": lambda t, x: t.sum(x),
    "sum rows": lambda t, x: t.sum(x, 1),
    "sum columns": lambda t, x: t.sum(x, 0),
    "mean": lambda t, x: t.mean(x, 0),
    "amax": lambda t, x: t.amax(x, 1),
    "argmax": lambda t, x: t.argmax(x, 1),
    "cumsum": lambda t, x: t.cumsum(x, 1),
    "softmax": lambda t, x: t.softmax(x, 1),
    "log_softmax": lambda t, x: t.log_softmax(x, 0),
    "sort": lambda t, x: t.sort(x, 1)[0],
    "topk": lambda t, x: t.topk(x, 5, 1)[0],
    "cat": lambda t, x: t.cat([x, x], 1),
    "index_select": lambda t, x: t.index_select(x, 0, t.arange(200)),
    "gather": lambda t, x: t.gather(x, 1, (x > 0).to(t.int64)),
    "copy": lambda t, x: x.t().contiguous(),
    "where": lambda t, x: t.where(x > 0, x, -x),
    "mm": lambda t, x: t.mm(x, x.t()),
    "var": lambda t, x: t.var(x, 1),
    "any": lambda t, x: t.any(x > 1.999, 1),
    "masked_select": lambda t, x: t.masked_select(x, x > 0),
}
# A sum of partial sums is rounded differently from one sum.
_ROUNDED = {"sum", "mm", "sum columns", "mean"}


@pytest.mark.parametrize("name", _CALLS_WITH_THREADS)
def test_others_with_threads(name: str, restored_threads: None):
    tensor = large(name)(301, 403)
    compare_threads(lambda: _CALLS_WITH_THREADS[name](torch, tensor), name, exactly=name not in _ROUNDED)


@pytest.mark.parametrize("name", ["normal_", "uniform_", "bernoulli_", "random_", "exponential_"])
def test_random_numbers_with_threads(name: str, restored_threads: None):
    def numbers():
        torch.manual_seed(7)
        return getattr(torch.empty(300_007), name)()

    compare_threads(numbers, name, exactly=True)


# Memory


@enrolled()
def test_references_are_returned(operator: Operator):
    """Many calls leave no additional references to the arguments."""
    sample = operator.typical_samples(torch)[0]
    tensors = sample.tensors()
    outcome(call, operator, torch, sample)  # creates what is created once
    before = [sys.getrefcount(tensor) for tensor in tensors]
    for _ in range(_CALLS):
        outcome(call, operator, torch, sample)
    after = [sys.getrefcount(tensor) for tensor in tensors]
    assert after == before, f"{operator}{sample}: references {before} became {after} in {_CALLS} calls"


@only_torch_py
@enrolled()
def test_memory_is_returned(operator: Operator):
    """The bytes that the allocator has handed out, after forward and backward."""
    sample = operator.samples(torch, operator.dtypes_under_test()[0], requires_grad=True)
    if not sample:
        pytest.skip(f"no samples of {operator.dtypes_under_test()[0]}")
    use(operator, sample[0])
    before = bytes_in_use()
    for _ in range(_CALLS // 4):
        use(operator, sample[0])
    if bytes_in_use() != before:
        gc.collect()  # slow; memory that the collector frees is not leaked
    assert bytes_in_use() <= before, f"{operator}{sample[0]}: {before} bytes in use became {bytes_in_use()}"


def use(operator: Operator, sample: SampleInput) -> None:
    sample = sample.map(lambda tensor: tensor.detach().clone().requires_grad_(tensor.requires_grad))
    if operator.is_mutation:
        sample.clone_input()
    for result in tensors_of(outcome(call, operator, torch, sample).result):
        if result.requires_grad:
            total = (result.cfloat() if result.dtype == torch.complex32 else result).sum()
            (total.abs() if total.is_complex() else total).backward(retain_graph=True)


def bytes_in_use() -> int:
    return int(torch._C._cpu_memory_statistics()["allocated_bytes"])
