"""Calls of operators that take indices or masks, with 0-dimensional, 1-dimensional and empty arguments.

Each call returns or raises one of the usual errors; where PyTorch is installed, it returns the same result,
or raises where PyTorch does. The calls may end the process if an operator is wrong, so tests make them in a
process of their own (`isolated.py`).
"""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.ops.calling import call, exists_in, inplace, method_parts
from tests.ops.comparison import Outcome, assert_same, dtype_name, outcome
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput

_INDICES = ("index", "indices", "mask", "condition")
# Not compared with PyTorch, and why.
_WITHOUT_PEER = {
    "embedding_bag": "PyTorch ends the process with some of the calls",
    "_unsafe_masked_index": "for an empty self, PyTorch ignores the mask and the sizes after the indices",
    "segment_reduce": "PyTorch refuses zero segments, by an error of min()",
}
# None keeps the sample's own shape.
_SHAPES: tuple[tuple[int, ...] | None, ...] = (None, (), (1,), (3,), (0,), (0, 3), (3, 0))
_ERRORS = (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError)


def takes_indices(operator: Operator) -> bool:
    """Whether an argument holds indices or a mask, and the operator is not one of lists."""
    arguments = operator.schema.arguments.flat_non_out
    return operator.called is None and any(
        argument.name in _INDICES and argument.type.is_tensor_like for argument in arguments
    )


def _arguments(sample: SampleInput, torch: Any) -> Iterator[SampleInput]:
    """The sample with its tensors in every combination of shapes, and along other dimensions."""
    tensors = sample.tensors()
    for shapes in itertools.product(_SHAPES, repeat=len(tensors)):
        if shapes.count(None) == len(tensors):
            continue
        following = iter(shapes)

        def reshaped(tensor: Any) -> Any:
            shape = next(following)  # noqa: B023
            return tensor if shape is None else _of_shape(torch, tensor, shape)

        made = sample.map(reshaped)
        yield made
        if "dim" in made.kwargs or (made.args and type(made.args[0]) is int):
            yield _along(made, -1)


def _of_shape(torch: Any, tensor: Any, shape: tuple[int, ...]) -> Any:
    count = 1
    for size in shape:
        count *= size
    numbers = (
        torch.arange(count) % 2 if dtype_name(tensor).startswith(("int", "bool")) else torch.arange(count)
    )
    return numbers.to(tensor.dtype).reshape(shape)


def _along(sample: SampleInput, dim: int) -> SampleInput:
    if "dim" in sample.kwargs:
        return SampleInput(*sample.positional, **{**sample.kwargs, "dim": dim})
    return SampleInput(sample.input, dim, *sample.args[1:], **sample.kwargs)


def problems_of(torch: Any, operator: Operator, limit: int, announce: Callable[[str], None]) -> list[str]:
    """What is wrong with calls made from the first ``limit`` samples; one line for each kind of problem."""
    peer = _peer(operator)
    found: dict[str, str] = {}
    forms = [call, *([inplace] if "inplace" in operator.variants else [])]

    theirs = operator.typical_samples(peer)[:limit] if peer is not None else itertools.repeat(None)
    for sample, same in zip(operator.typical_samples(torch)[:limit], theirs):
        others = itertools.repeat(None) if same is None else _arguments(same, peer)
        for made, other in zip(_arguments(sample, torch), others):
            for form in forms:
                if form is inplace and method_parts(operator, made) is None:
                    continue
                text = f"{form.__name__} {operator}{made}"
                announce(text)
                problem = _problem(operator, form, torch, made, peer, other)
                if problem:
                    found.setdefault(re.sub(r"\d+", "", problem)[:90], f"{text}: {problem}")

    return list(found.values())


def _peer(operator: Operator) -> Any:
    if importlib.util.find_spec("torch") is None or operator.base_name in _WITHOUT_PEER:
        return None
    peer = importlib.import_module("torch")
    return peer if exists_in(operator, peer) else None


def _problem(
    operator: Operator, form: Callable[..., Any], torch: Any, sample: SampleInput, peer: Any, other: Any
) -> str | None:
    ours = _outcome(operator, form, torch, sample)
    if ours.error is not None and not isinstance(ours.error, _ERRORS):
        return f"raised {type(ours.error).__name__}: {ours.error}"
    if peer is None:
        return None

    theirs = _outcome(operator, form, peer, other)
    if ours.error is not None or theirs.error is not None:
        if (ours.error is None) == (theirs.error is None):
            return None
        return f"got {ours.error or 'a result'!r:.150}, PyTorch {theirs.error or 'a result'!r:.150}"
    try:
        assert_same(ours.result, theirs.result, "result")
    except AssertionError as error:
        return str(error)
    return None


def _outcome(operator: Operator, form: Callable[..., Any], torch: Any, sample: SampleInput) -> Outcome:
    copy = sample.map(lambda tensor: tensor.clone())
    return outcome(form, operator, torch, copy)
