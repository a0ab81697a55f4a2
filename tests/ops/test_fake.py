"""Every operator gives on fake tensors the shape, dtype, strides, device and aliases of its real result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.ops.calling import call, tensors_of
from tests.ops.comparison import assert_same, dtype_name, outcome, significant_strides
from tests.ops.isolated import Isolated
from tests.ops.known_differences import SHARED_MEMORY, WITHOUT_VALUES
from tests.ops.operators import Operator, enrolled, enrolled_with_dtypes
from tests.ops.samples import SampleInput
from tests.subject import only_torch_py, torch

pytestmark = only_torch_py

_DTYPES = ("float32", "int64", "bool")
_GRADIENTS = 6  # samples for backward
_RECORDED = 4  # samples recorded
_SAMPLES = 3  # for calls that mix arguments

# Operators that refuse fake arguments, always or in some calls, and why.
DATA_DEPENDENT: dict[str, str] = {
    **dict.fromkeys(
        (
            "_unique",
            "_unique2",
            "argwhere",
            "bincount",
            "index.Tensor",
            "index_put",
            "index_put_",
            "linalg_lstsq",
            "masked_select",
            "nonzero",
            "nonzero_numpy",
            "one_hot",
            "repeat_interleave.Tensor",
            "repeat_interleave.self_Tensor",
            "unique_consecutive",
            "unique_dim",
            "where",
        ),
        "the shape of a result follows from elements: of masks, for those that index",
    ),
    **dict.fromkeys(
        ("allclose", "equal", "is_nonzero", "item"), "the result is a number that follows from elements"
    ),
    **dict.fromkeys(
        (
            "_foreach_addcdiv.Tensor",
            "_foreach_addcdiv_.Tensor",
            "_foreach_addcmul.Tensor",
            "_foreach_addcmul_.Tensor",
            "_pack_padded_sequence",
            "_pad_packed_sequence",
            "ctc_loss.Tensor",
            "gru.data",
            "lstm.data",
            "masked_scatter",
            "narrow.Tensor",
            "rnn_relu.data",
            "rnn_tanh.data",
            "segment_reduce",
            "tensor_split.tensor_indices_or_sections",
        ),
        "a tensor says how many elements are taken, or is a list of numbers",
    ),
}

# Operators that have arguments or results on the CPU whatever the device of the others.
ON_THE_HOST: dict[str, str] = {
    **dict.fromkeys(("to.device", "to.dtype_layout"), "the call names the device"),
    **SHARED_MEMORY,
    **dict.fromkeys(
        (
            "_pack_padded_sequence",
            "_pad_packed_sequence",
            "gru.data",
            "lstm.data",
            "rnn_relu.data",
            "rnn_tanh.data",
            "tensor_split.tensor_indices_or_sections",
        ),
        "lists of numbers must be on the CPU",
    ),
    **{
        f"{name}.{bounds}": "a factory: results are on the CPU unless the call names a device"
        for name in ("linspace", "logspace")
        for bounds in ("Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor")
    },
}

# What differs from the real call, in the words of the assertion, and why.
DIFFERENT: dict[str, tuple[str, str]] = {
    "_foreach_add.Tensor": ("torch.", "a real 0-dimensional tensor is read as a number"),
    **dict.fromkeys(
        ("det", "linalg_det"), ("strides", "nearly singular matrices have a formula of their own")
    ),
    "from_file": ("files are mapped into CPU memory", "a file has numbers"),
}


def dtypes(operator: Operator) -> list[str]:
    return [dtype for dtype in _DTYPES if operator.takes(dtype)]


def fake_mode() -> Any:
    from torch_py._subclasses import FakeTensorMode

    return FakeTensorMode()


def is_refusal(operator: Operator, error: Exception | None) -> bool:
    from torch_py._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException

    return str(operator) in DATA_DEPENDENT and (
        isinstance(error, (DataDependentOutputException, DynamicOutputShapeException))
        or "stands for others" in str(error)
    )


def copies(sample: SampleInput) -> SampleInput:
    """The same call on memory of its own, with the strides of the sample."""

    def copy(tensor: Any) -> Any:
        memory = tensor.untyped_storage().clone()
        twin = torch.empty(0, dtype=tensor.dtype)
        twin.set_(memory, tensor.storage_offset(), tensor.shape, tensor.stride())
        return twin.requires_grad_(tensor.requires_grad)

    return sample.map(copy)


def place(tensor: Any) -> Any:
    return tensor.untyped_storage()._cdata if tensor.numel() else None


def aliases(tensors: list[Any]) -> list[tuple[int, int]]:
    """The pairs of tensors that share memory."""
    places = [place(tensor) for tensor in tensors]
    return [
        (i, j)
        for i, first in enumerate(places)
        for j, second in enumerate(places[:i])
        if first is not None and first == second
    ]


def compare(found: list[Any], expected: list[Any], context: str) -> None:
    assert len(found) == len(expected), f"{context}: {len(found)} results, expected {len(expected)}"
    for fake, real in zip(found, expected):
        assert type(fake).__name__ == "FakeTensor", f"{context}: the result is a {type(fake).__name__}"
        assert tuple(fake.shape) == tuple(real.shape), (
            f"{context}: {tuple(fake.shape)}, not {tuple(real.shape)}"
        )
        assert dtype_name(fake) == dtype_name(real), f"{context}: {fake.dtype}, not {real.dtype}"
        assert fake.device == real.device, f"{context}: on {fake.device}, not {real.device}"
        assert significant_strides(fake) == significant_strides(real), (
            f"{context}: strides {fake.stride()} of shape {tuple(real.shape)}, not {real.stride()}"
        )


@pytest.fixture(scope="module")
def isolated() -> Iterator[Isolated]:
    process = Isolated()
    yield process
    process.close()


@enrolled()
def test_no_call_without_elements_crashes(operator: Operator, isolated: Isolated):
    """Meta and fake arguments, and some of them with real ones, in a process of their own."""
    assert not isolated.problems("without_elements.problems_of", str(operator), _SAMPLES)


@enrolled_with_dtypes(dtypes)
def test_fake_results_are_like_real_ones(operator: Operator, dtype: str):
    for sample in operator.samples(torch, dtype):
        with agrees(operator, f"{operator}{sample}, fake") as context:
            compare_results(operator, sample, context)


def compare_results(operator: Operator, sample: SampleInput, context: str) -> None:
    real = copies(sample)
    mode = fake_mode()
    fake = real.map(mode.from_tensor)

    expected = outcome(call, operator, torch, real)
    if expected.error is not None:
        return
    with mode:
        found = outcome(call, operator, torch, fake)
    if is_refusal(operator, found.error):
        return
    assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"

    results = tensors_of(expected.result)
    compare(tensors_of(found.result), results, context)
    shared = aliases([*tensors_of(found.result), *fake.tensors()])
    assert shared == aliases([*results, *real.tensors()]), f"{context}: other tensors share memory"
    if not operator.makes_tensors:
        assert type(found.result) is type(expected.result), context


@enrolled(lambda operator: str(operator) not in ON_THE_HOST)
def test_results_are_on_a_device_that_need_not_exist(operator: Operator):
    for sample in operator.typical_samples(torch):
        context = f"{operator}{sample}, fake, on a device"
        real = copies(sample)
        mode = fake_mode()
        fake = real.map(lambda tensor: mode.from_tensor(tensor).to("cuda:3"))  # noqa: B023
        expected = outcome(call, operator, torch, real)
        if expected.error is not None or not fake.tensors():
            continue

        with mode:
            found = outcome(call, operator, torch, fake)
        if is_refusal(operator, found.error):
            continue
        assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"
        with agrees(operator, context):
            for ours, theirs in zip(tensors_of(found.result), tensors_of(expected.result), strict=True):
                assert str(ours.device) == "cuda:3", f"{context}: a result is on {ours.device}"
                assert ours.shape == theirs.shape, f"{context}: {ours.shape}, not {theirs.shape}"
                assert dtype_name(ours) == dtype_name(theirs), f"{context}: {ours.dtype}, not {theirs.dtype}"


@enrolled(lambda operator: str(operator) not in WITHOUT_VALUES)
def test_a_fake_recording_computes_what_the_call_does(operator: Operator):
    from torch_py.fx.experimental.proxy_tensor import make_fx

    for sample in operator.typical_samples(torch)[:_RECORDED]:
        context = f"recorded with fake tensors: {operator}{sample}"
        expected = outcome(seeded, operator, copies(sample))
        if expected.error is not None:
            continue

        def function(*tensors: Any, sample: SampleInput = sample) -> Any:
            rest = iter(tensors)
            return call(operator, torch, sample.map(lambda tensor: next(rest)))

        graph = outcome(make_fx(function, tracing_mode="fake"), *copies(sample).tensors())
        if is_refusal(operator, graph.error):
            continue
        with agrees(operator, context):
            assert graph.error is None, f"{context}: {type(graph.error).__name__}: {graph.error}"
            seed(sample)
            assert_same(graph.result(*copies(sample).tensors()), expected.result, context, strides=True)


def seeded(operator: Operator, sample: SampleInput) -> Any:
    seed(sample)
    return call(operator, torch, sample)


def seed(sample: SampleInput) -> None:
    torch.manual_seed(0)
    for value in sample.kwargs.values():
        if isinstance(value, torch.Generator):
            value.manual_seed(0)


@enrolled(lambda operator: operator.is_differentiable)
def test_fake_gradients_are_like_real_ones(operator: Operator):
    for sample in operator.samples(torch, "float32", requires_grad=True)[:_GRADIENTS]:
        with agrees(operator, f"{operator}{sample}, backward of fake") as context:
            compare_gradients(operator, sample, context)


def compare_gradients(operator: Operator, sample: SampleInput, context: str) -> None:
    real = copies(sample)
    mode = fake_mode()
    fake = real.map(mode.from_tensor)

    expected = outcome(gradients, operator, real)
    if expected.error is not None:
        return
    found = outcome(gradients, operator, fake)
    if is_refusal(operator, found.error):
        return
    assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"

    wanted = [gradient is not None for gradient in expected.result]
    assert [gradient is not None for gradient in found.result] == wanted, f"{context}: other gradients"
    compare(given(found.result), given(expected.result), context)


def gradients(operator: Operator, sample: SampleInput) -> list[Any]:
    inputs = [tensor for tensor in sample.tensors() if tensor.requires_grad]
    if operator.is_mutation:
        sample.clone_input()
    outputs = [item for item in tensors_of(call(operator, torch, sample)) if item.requires_grad]
    if not outputs:
        return []
    weights = [torch.ones_like(output) for output in outputs]
    return list(torch.autograd.grad(outputs, inputs, weights, allow_unused=True))


def given(gradients: list[Any]) -> list[Any]:
    return [gradient for gradient in gradients if gradient is not None]


@contextmanager
def agrees(operator: Operator, context: str) -> Iterator[str]:
    """Lets the differences pass that are known."""
    try:
        yield context
    except AssertionError as error:
        known, _ = DIFFERENT.get(str(operator), ("", ""))
        if not known or known not in str(error):
            raise
