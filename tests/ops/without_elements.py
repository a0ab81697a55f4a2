"""Calls with tensors that have no elements, and questions for those of their results: errors, never crashes.

tests.ops.isolated runs this in a process of its own.
"""

from __future__ import annotations

import contextlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tests.ops.calling import call, inplace, tensors_of
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput

# What a program may ask a tensor for. A result is as good as an error; an end of the process is neither.
QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "item": lambda tensor: tensor.item(),
    "tolist": lambda tensor: tensor.tolist(),
    "numpy": lambda tensor: tensor.numpy(),
    "asarray": np.asarray,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": lambda tensor: [1, 2, 3][tensor],
    "format": lambda tensor: f"{tensor:.3f}",
    "data_ptr": lambda tensor: tensor.data_ptr(),
    "dlpack": lambda tensor: tensor.__dlpack__(),
    "buffer": memoryview,
    "repr": repr,
    "pickle": pickle.dumps,
    "contains": lambda tensor: 1 in tensor,
    "first": lambda tensor: tensor[0],
    "mask": lambda tensor: tensor[tensor != 0],
    "storage": lambda tensor: bytes(tensor.untyped_storage()),
    "is_pinned": lambda tensor: tensor.is_pinned(),
}


def problems_of(torch: Any, operator: Operator, limit: int, announce: Callable[[str], None]) -> list[str]:
    """Makes the calls. There is nothing to find but a crash, or an exception that is none of the usual."""
    found: list[str] = []

    def look_at(text: str, act: Callable[[], Any]) -> None:
        announce(text)
        problem = _problem(act)
        if problem is not None:
            found.append(f"{text}: {problem}")

    for sample in operator.typical_samples(torch)[:limit]:
        for kind, mixed, mode in _mixtures(torch, sample):
            text = f"{operator}{sample}, {kind}"
            results: list[Any] = []
            look_at(text, partial(_make, torch, call, operator, mixed, mode, results))
            if "inplace" in operator.variants:
                look_at(f"{text}: in place", partial(_make, torch, inplace, operator, mixed, mode, []))
            if operator.is_differentiable:
                look_at(f"{text}: backward", partial(_differentiate, torch, operator, mixed, mode))

            # What is mixed gives results of the same kinds.
            if kind.startswith("all") and results:
                for name, ask in QUESTIONS.items():
                    look_at(f"{text}: {name} of the result", partial(ask, results[0]))

    return found[:5]


def _mixtures(torch: Any, sample: SampleInput) -> Iterator[tuple[str, SampleInput, Any]]:
    """The sample with meta or fake tensors in the place of all its tensors, of one, or of all but one."""
    from torch_py._subclasses import FakeTensorMode

    count = len(sample.tensors())
    choices = {"all": set(range(count))}
    choices |= {f"number {i}": {i} for i in range(count) if count > 1}
    choices |= {f"all but {i}": set(range(count)) - {i} for i in range(count) if count > 2}

    for name, chosen in choices.items():
        mode = FakeTensorMode(allow_non_fake_inputs=True)
        yield f"{name}: meta", _replaced(sample, chosen, lambda t: _on(torch, t, "meta")), None
        yield f"{name}: fake", _replaced(sample, chosen, mode.from_tensor), mode
        strict = FakeTensorMode()
        yield f"{name}: fake, outside", _replaced(sample, chosen, strict.from_tensor), None

    mode = FakeTensorMode()

    def elsewhere(tensor: Any) -> Any:
        with mode:
            return mode.from_tensor(tensor).to("cuda:1")

    yield "all: on an absent device", _replaced(sample, choices["all"], elsewhere), mode


def _replaced(sample: SampleInput, chosen: set[int], replace: Callable[[Any], Any]) -> SampleInput:
    numbers = iter(range(len(sample.tensors())))
    return sample.map(
        lambda tensor: replace(tensor.detach()) if next(numbers) in chosen else tensor.detach().clone()
    )


def _on(torch: Any, tensor: Any, device: str) -> Any:
    return torch.empty_strided(tuple(tensor.shape), tensor.stride(), dtype=tensor.dtype, device=device)


def _make(
    torch: Any,
    form: Callable[..., Any],
    operator: Operator,
    sample: SampleInput,
    mode: Any,
    results: list[Any],
) -> None:
    with mode or contextlib.nullcontext():
        results += tensors_of(form(operator, torch, sample))


def _differentiate(torch: Any, operator: Operator, sample: SampleInput, mode: Any) -> None:
    with mode or contextlib.nullcontext():
        inputs = [tensor for tensor in sample.tensors() if tensor.is_floating_point() and tensor.is_leaf]
        for tensor in inputs:
            tensor.requires_grad_()
        results = [result for result in tensors_of(call(operator, torch, sample)) if result.requires_grad]
        for result in results[:1]:
            result.abs().sum().backward()


def _problem(act: Callable[[], Any]) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            act()
        except (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, BufferError):
            return None
        except AssertionError as error:
            refuses = "Please convert all Tensors" in str(error) or "CUDA" in str(error)
            return None if refuses else f"AssertionError: {error}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None
