"""Compares calls with tensors on CUDA and on the CPU: results, forms, gradients, errors, inputs.

`problems_of` runs in a process of its own (tests.ops.isolated): host code that reads the memory of a device
ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tests.ops.calling import call, inplace, method_parts, tensors_of
from tests.ops.comparison import Outcome, assert_same, outcome
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput

_DTYPES = ("float32", "bfloat16", "complex64", "int64", "bool")
# Samples with gradients, in place, and with out=; each dtype has more of the plain call.
_SAMPLES_OF_FORMS = 4
# Errors that are about a difference between devices, not about the call.
DEVICES = "on the same device|device"


def problems_of(torch: Any, operator: Operator, limit: int, announce: Callable[[str], None]) -> list[str]:
    """What differs between the devices, one line each."""
    found: list[str] = []
    for name, check in _checks(torch, operator, limit):
        announce(f"{name} of {operator}")
        try:
            check(announce)
        except AssertionError as error:
            found.append(f"{name}: {error}")
    return found


def _checks(
    torch: Any, operator: Operator, limit: int
) -> Iterator[tuple[str, Callable[[Callable[[str], None]], None]]]:
    for dtype in _DTYPES:
        if operator.takes(dtype):
            samples = operator.samples(torch, dtype)[:limit]
            yield (
                f"{dtype} call",
                lambda announce, samples=samples: _check_calls(torch, operator, samples, announce, call),
            )
    if "inplace" in operator.variants:
        yield (
            "in place",
            lambda announce: _check_calls(torch, operator, _few(torch, operator), announce, inplace),
        )
    if operator.is_differentiable and operator.takes("float32"):
        yield "gradient", lambda announce: _check_gradients(torch, operator, announce)
    yield "errors", lambda announce: _check_errors(torch, operator, announce)


def _few(torch: Any, operator: Operator) -> list[SampleInput]:
    return operator.typical_samples(torch)[:_SAMPLES_OF_FORMS]


def on_cuda(torch: Any, tensor: Any) -> Any:
    """A copy with the strides of `tensor`, a leaf where it is one."""
    storage = torch.empty_strided(tuple(tensor.shape), tuple(tensor.stride()), dtype=tensor.dtype)
    copy = storage.to("cuda") if storage.is_contiguous() else _with_strides(torch, storage)
    copy.copy_(tensor.detach()) if _is_writable(copy) else None
    if not _is_writable(copy):
        copy = _expanded(torch, tensor)
    return copy.requires_grad_(tensor.requires_grad)


def _with_strides(torch: Any, tensor: Any) -> Any:
    return torch.empty_strided(tuple(tensor.shape), tuple(tensor.stride()), dtype=tensor.dtype, device="cuda")


def _is_writable(tensor: Any) -> bool:
    return all(stride != 0 or size <= 1 for stride, size in zip(tensor.stride(), tensor.shape))


def _expanded(torch: Any, tensor: Any) -> Any:
    """An expanded tensor: one element of each expanded dimension is copied."""
    index = tuple(slice(0, 1) if stride == 0 else slice(None) for stride in tensor.stride())
    return tensor.detach()[index].to("cuda").expand(tuple(tensor.shape))


def moved(torch: Any, operator: Operator, sample: SampleInput) -> SampleInput:
    """The call with its tensors on CUDA; operators that make tensors from nothing are told the device."""
    result = sample.map(lambda tensor: on_cuda(torch, tensor))
    if operator.is_factory:
        result.kwargs["device"] = "cuda"
    return result


def _check_calls(
    torch: Any,
    operator: Operator,
    samples: list[SampleInput],
    announce: Callable[[str], None],
    form: Callable[..., Any],
) -> None:
    for sample in samples:
        if form is inplace and method_parts(operator, sample) is None:
            continue

        here = sample.map(lambda tensor: tensor.detach().clone() if _is_writable(tensor) else tensor)
        there = moved(torch, operator, sample)
        announce(f"{operator}{sample}")
        torch.manual_seed(3)
        expected = outcome(form, operator, torch, here)
        torch.manual_seed(3)
        found = outcome(form, operator, torch, there)
        _compare(operator, f"{operator}{sample}", found, expected)
        if expected.error is None:
            for ours, theirs in zip(there.tensors(), here.tensors(), strict=True):
                if not operator.is_random:
                    assert_same(ours.cpu(), theirs, f"{operator}{sample}: an argument after the call")


def _compare(operator: Operator, context: str, found: Outcome, expected: Outcome) -> None:
    if expected.error is not None:
        assert found.error is not None, f"{context}: accepted on cuda; on the CPU {expected.error}"
        assert type(found.error) is type(expected.error), (
            f"{context}: {type(found.error).__name__}: {found.error}; on the CPU "
            f"{type(expected.error).__name__}: {expected.error}"
        )
        return

    assert found.error is None, f"{context}: {type(found.error).__name__}: {found.error}"
    for ours, theirs in zip(tensors_of(found.result), tensors_of(expected.result), strict=True):
        assert theirs.device.type != "cpu" or ours.device.type == "cuda", f"{context}: on {ours.device}"
        if theirs.device.type == "cpu":
            assert_same(ours.cpu(), theirs, context, values=not operator.is_random, strides=True)


def _check_gradients(torch: Any, operator: Operator, announce: Callable[[str], None]) -> None:
    for sample in operator.samples(torch, "float32", requires_grad=True)[:_SAMPLES_OF_FORMS]:
        announce(f"gradient of {operator}{sample}")
        there = moved(torch, operator, sample)
        expected = outcome(_gradients, torch, operator, sample)
        found = outcome(_gradients, torch, operator, there)
        if expected.error is not None:
            assert found.error is not None, f"{operator}{sample}: accepted; on the CPU {expected.error}"
            continue

        assert found.error is None, f"{operator}{sample}: {type(found.error).__name__}: {found.error}"
        for ours, theirs in zip(found.result, expected.result, strict=True):
            assert (ours is None) == (theirs is None), f"{operator}{sample}: {ours} and {theirs}"
            if ours is not None:
                assert ours.device.type == "cuda"
                assert_same(ours.cpu(), theirs, f"gradient of {operator}{sample}")


def _gradients(torch: Any, operator: Operator, sample: SampleInput) -> list[Any]:
    """Gradients of the results' sum of squares."""
    leaves = [tensor for tensor in sample.tensors() if tensor.requires_grad]
    called = sample.map(lambda tensor: tensor)
    if operator.is_mutation:
        called.clone_input()
    results = [
        result
        for result in tensors_of(call(operator, torch, called))
        if result.requires_grad and (result.is_floating_point() or result.is_complex())
    ]
    if not results:
        return []
    total = sum((result * result.detach().conj()).real.sum() for result in results)
    return list(torch.autograd.grad(total, leaves, allow_unused=True))


def _check_errors(torch: Any, operator: Operator, announce: Callable[[str], None]) -> None:
    """What the CPU refuses, CUDA refuses with the same exception and the same words."""
    for error in operator.errors(torch):
        if any(tensor.device.type != "cpu" for tensor in error.sample.tensors()):
            continue

        announce(f"{operator}{error.sample}")
        there = moved(torch, operator, error.sample)
        expected = outcome(call, operator, torch, error.sample)
        found = outcome(call, operator, torch, there)
        if expected.error is None:
            continue
        _compare(operator, f"{operator}{error.sample}", found, expected)
        ours, theirs = (str(done.error).split("\n")[0] for done in (found, expected))
        assert ours.replace("cuda:0", "cpu") == theirs, (
            f"{operator}{error.sample}: {ours!r}; on the CPU {theirs!r}"
        )
