"""Compares calls with tensors on CUDA and on the CPU: results, forms, gradients, errors, inputs.

`problems_of` runs in a process of its own (tests.ops.isolated): host code that reads the memory of a device
ends it.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.ops.calling import call, function_of, inplace, method_parts, tensors_of
from tests.ops.comparison import Outcome, assert_same, outcome, significant_strides
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput

_DTYPES = os.environ.get("CUDA_DTYPES", "float32,bfloat16,complex64,int64,bool").split(",")
# Samples for the other forms, and with gradients. Plain calls have all samples of several dtypes.
_SAMPLES_OF_FORMS = 4

# How errors of checks inside kernels end.
_REPORTED = re.compile(r" \((?:argument '\w+' of )?[\w.]+ on cuda:\d+(?:, called by \w+)?\)$")

Announce = Callable[[str], None]
Form = Callable[[Operator, Any, SampleInput], Any]


def problems_of(torch: Any, operator: Operator, limit: int, announce: Announce) -> list[str]:
    """What differs between the devices, at most one line for each kind of check."""
    found: list[str] = []
    for check in _checks(torch, operator, limit):
        try:
            check(announce)
        except AssertionError as error:
            found.append(str(error))
    return found


def _checks(torch: Any, operator: Operator, limit: int) -> Iterator[Callable[[Announce], None]]:
    dtypes = [dtype for dtype in _DTYPES if operator.takes(dtype)]
    for dtype in dtypes or operator.dtypes_under_test()[:1]:
        samples = operator.samples(torch, dtype)[:limit]
        yield functools.partial(_check_calls, torch, operator, samples, call)

    few = operator.typical_samples(torch)[:_SAMPLES_OF_FORMS]
    if "inplace" in operator.variants:
        called = [sample for sample in few if method_parts(operator, sample) is not None]
        yield functools.partial(_check_calls, torch, operator, called, inplace)
    if {"out", "function"} <= set(operator.variants):
        yield functools.partial(_check_calls, torch, operator, few, _with_out)
    if operator.is_differentiable and operator.takes("float32"):
        yield functools.partial(_check_gradients, torch, operator)
    yield functools.partial(_check_errors, torch, operator)


# The same call on CUDA


def on_cuda(torch: Any, tensor: Any) -> Any:
    """The tensor's storage on CUDA, seen in the same way; a leaf that requires grad if `tensor` does."""
    plain = tensor.detach()
    size = plain.untyped_storage().nbytes() // plain.element_size()
    whole = plain.as_strided((size,), (1,), 0).to("cuda")
    there = whole.as_strided(tuple(plain.shape), tuple(plain.stride()), plain.storage_offset())
    return there.detach().requires_grad_(tensor.requires_grad)


# Arguments that are on the CPU whatever the device of the others.
_ON_HOST = frozenset({"batch_sizes", "high", "tensor_indices_or_sections"})


def moved(torch: Any, operator: Operator, sample: SampleInput) -> SampleInput:
    """The call with its tensors on CUDA; operators that make tensors from nothing are told the device."""
    arguments = operator.bind(sample) or {}
    kept = {id(value) for name, value in arguments.items() if name in _ON_HOST}
    if _is_packed(operator):
        kept.add(id(arguments.get("lengths")))
    copies: dict[int, Any] = {}  # a tensor that is given twice stays one tensor

    def move(tensor: Any) -> Any:
        if id(tensor) in kept:
            return tensor
        if id(tensor) not in copies:
            copies[id(tensor)] = on_cuda(torch, tensor)
        return copies[id(tensor)]

    result = sample.map(move)
    for name, value in result.kwargs.items():
        if isinstance(value, torch.Generator):
            result.kwargs[name] = torch.Generator("cuda").manual_seed(value.initial_seed())
    if operator.is_factory:
        result.kwargs["device"] = "cuda"
    return result


def _finished(form: Form, operator: Operator, torch: Any, sample: SampleInput) -> Any:
    """The call and the errors of its kernels, which the next wait raises."""
    result = form(operator, torch, sample)
    torch.cuda.synchronize()
    return result


def _with_out(operator: Operator, torch: Any, sample: SampleInput) -> Any:
    """The call with an `out` of the wrong size, which it must resize."""
    function = function_of(operator, torch)
    assert function is not None
    expected = function(*sample.positional, **sample.kwargs)
    outs = tuple(tensor.new_empty(0) for tensor in tensors_of(expected))
    return function(
        *sample.positional, **sample.kwargs, out=outs if isinstance(expected, (list, tuple)) else outs[0]
    )


# Checks


def _check_calls(
    torch: Any, operator: Operator, samples: list[SampleInput], form: Form, announce: Announce
) -> None:
    for sample in samples:
        context = f"{getattr(form, '__name__', 'call')} of {operator}{sample}"
        announce(context)
        there = moved(torch, operator, sample)
        here = sample.map(lambda tensor: tensor.detach())

        torch.manual_seed(3)
        expected = outcome(form, operator, torch, here)
        torch.manual_seed(3)
        found = outcome(_finished, form, operator, torch, there)
        _compare(operator, context, found, expected)
        if expected.error is None and _has_values(operator):
            for ours, theirs in zip(there.tensors(), here.tensors(), strict=True):
                assert_same(ours.cpu(), theirs, f"{context}: an argument after the call")


def _compare(operator: Operator, context: str, found: Outcome, expected: Outcome) -> None:
    if expected.error is not None:
        assert found.error is not None, f"{context}: accepted on cuda; on the CPU {_said(expected)}"
        assert type(found.error) is type(expected.error), (
            f"{context}: {_said(found)}; on the CPU {_said(expected)}"
        )
        return

    assert found.error is None, f"{context}: {_said(found)}"
    for ours, theirs in zip(tensors_of(found.result), tensors_of(expected.result), strict=True):
        if theirs.device.type == "cpu":
            assert ours.device.type == "cuda" or _stays_on_host(operator), f"{context}: on {ours.device}"
            assert_same(ours.cpu(), theirs, context, values=_has_values(operator))
            found_strides, strides = significant_strides(ours), significant_strides(theirs)
            assert found_strides == strides, f"{context}: strides {found_strides}, on the CPU {strides}"


def _has_values(operator: Operator) -> bool:
    """Whether the elements of results are determined."""
    return not operator.is_random and str(operator) not in WITHOUT_VALUES


def _stays_on_host(operator: Operator) -> bool:
    """Whether results are on the CPU whatever the device: lengths of sequences, or where the call says so."""
    has_device = operator.schema.arguments.find("device") is not None
    return _is_packed(operator) or (has_device and not operator.is_factory)


def _is_packed(operator: Operator) -> bool:
    """Whether the operator packs or unpacks sequences, whose lengths are for the host."""
    return operator.base_name in ("_pack_padded_sequence", "_pad_packed_sequence")


def _said(done: Outcome) -> str:
    return f"{type(done.error).__name__}: {done.error}"


def _check_gradients(torch: Any, operator: Operator, announce: Announce) -> None:
    for sample in operator.samples(torch, "float32", requires_grad=True)[:_SAMPLES_OF_FORMS]:
        context = f"gradient of {operator}{sample}"
        announce(context)
        there = moved(torch, operator, sample)
        expected = outcome(_gradients, torch, operator, sample)
        found = outcome(_gradients, torch, operator, there)
        if expected.error is not None:
            assert found.error is not None, f"{context}: accepted; on the CPU {_said(expected)}"
            continue

        assert found.error is None, f"{context}: {_said(found)}"
        for ours, theirs in zip(found.result, expected.result, strict=True):
            assert (ours is None) == (theirs is None), f"{context}: {ours} and {theirs}"
            if ours is not None:
                assert ours.device.type == "cuda", f"{context}: on {ours.device}"
                assert_same(ours.cpu(), theirs, context)


def _gradients(torch: Any, operator: Operator, sample: SampleInput) -> list[Any]:
    """Gradients of the results' sum of squares."""
    leaves = [tensor for tensor in sample.tensors() if tensor.requires_grad]
    called = sample.map(lambda tensor: tensor)
    if operator.is_mutation:
        called.clone_input()

    results = [result for result in tensors_of(call(operator, torch, called)) if result.requires_grad]
    if not results:
        return []
    total = sum((result * result.detach().conj()).real.sum() for result in results)
    return list(torch.autograd.grad(total, leaves, allow_unused=True))


def _check_errors(torch: Any, operator: Operator, announce: Announce) -> None:
    """What the CPU refuses, CUDA refuses with the same exception and the same words."""
    for error in operator.errors(torch):
        if any(tensor.device.type != "cpu" for tensor in error.sample.tensors()):
            continue

        context = f"{operator}{error.sample}"
        announce(context)
        there = moved(torch, operator, error.sample)
        expected = outcome(call, operator, torch, error.sample)
        found = outcome(_finished, call, operator, torch, there)
        if expected.error is None or re.search("on the CPU|on CUDA inputs", str(expected.error)):
            continue  # what only the CPU lacks

        _compare(operator, context, found, expected)
        ours, theirs = (str(done.error).split("\n")[0] for done in (found, expected))
        if _REPORTED.search(ours) is not None:
            continue  # a check inside a kernel: it knows the value and the bound, not all of the words
        assert ours.replace("cuda:0", "cpu") == theirs, f"{context}: {ours!r}; on the CPU {theirs!r}"
