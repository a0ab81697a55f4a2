"""Calls that write to memory of an argument, and what must hold for them.

``out``, or self in place, shares memory with an argument. Either the result is the one that separate memory
gives, or the call raises and changes no argument. The calls may end the process if an operator is wrong, so
tests make them in a process of their own (`isolated.py`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.ops.calling import call, function_of, inplace, method_parts, tensors_of
from tests.ops.comparison import assert_same, outcome, to_numpy
from tests.ops.known_differences import WITHOUT_VALUES
from tests.ops.operators import Operator
from tests.ops.samples import SampleInput

_ITEM = 16  # bytes of the largest dtype; offsets that are multiples of it suit every dtype
_GAP = 4 * _ITEM
# What the refusals of an unsuitable ``out`` say, in the words of PyTorch.
_REFUSAL = (
    "unsupported operation|doesn't match the broadcast shape|Expected out tensor to have|"
    "can't be cast|not resizable|expected .* but got|only supports|dtype"
)


class Room:
    """Memory that an argument shares with ``out``, with space on both sides."""

    def __init__(self, torch: Any, argument: Any, result: Any) -> None:
        self.torch = torch
        self.argument = argument
        self.result = result
        span = 2 * max(_bytes_of(argument), _bytes_of(result)) + 4 * _GAP
        self.memory = torch.zeros(span, dtype=torch.uint8)

    def place(self, like: Any, start: int = _GAP, spread: int = 1, reverse: bool = False) -> Any:
        """A tensor with the shape and dtype of ``like`` in this memory.

        ``spread`` is the distance of neighbouring elements; ``reverse`` stores the first dimension fastest.
        """
        sizes = tuple(like.shape)
        strides = []
        step = spread
        for size in sizes if reverse else sizes[::-1]:
            strides.append(step)
            step *= max(size, 1)
        if not reverse:
            strides.reverse()
        elements = self.memory.view(like.dtype)
        return elements.as_strided(sizes, strides, start // elements.element_size())


def _bytes_of(tensor: Any) -> int:
    return max(tensor.numel(), 1) * tensor.element_size()


Pair = tuple[Any, Any]


def _same(room: Room) -> Pair:
    argument = room.place(room.argument)
    return argument, argument


def _view(room: Room) -> Pair:
    argument = room.place(room.argument)
    return argument, argument.detach()


def _at_the_start(room: Room) -> Pair:
    return room.place(room.argument), room.place(room.result)


def _transposed(room: Room) -> Pair:
    return room.place(room.argument), room.place(room.result, reverse=True)


def _transposed_argument(room: Room) -> Pair:
    return room.place(room.argument, reverse=True), room.place(room.result)


def _ahead(room: Room) -> Pair:
    return room.place(room.argument), room.place(room.result, _GAP + _ITEM)


def _behind(room: Room) -> Pair:
    return room.place(room.argument), room.place(room.result, _GAP - _ITEM)


def _interleaved(room: Room) -> Pair:
    return room.place(room.argument, spread=2), room.place(room.result, _GAP + _ITEM, spread=2)


def _other_storage(room: Room) -> Pair:
    """Two storages over one foreign buffer."""
    array = room.memory.numpy()
    argument = room.place(room.argument)
    room.memory = room.torch.from_numpy(array)
    return argument, room.place(room.result, _GAP + _ITEM)


def _other_storage_same(room: Room) -> Pair:
    argument = room.place(room.argument)
    room.memory = room.torch.from_numpy(room.memory.numpy())
    return argument, room.place(room.result)


def _spread(room: Room) -> Pair:
    return room.place(room.argument), room.place(room.result, spread=2)


def _too_small(room: Room) -> Pair:
    argument = room.place(room.argument)
    return argument, room.place(room.torch.empty(1, dtype=room.result.dtype))


def _no_elements(room: Room) -> Pair:
    argument = room.place(room.argument)
    return argument, room.place(room.torch.empty(0, dtype=room.result.dtype))


def _too_large(room: Room) -> Pair:
    argument = room.place(room.argument)
    wide = room.torch.empty((2, *room.result.shape), dtype=room.result.dtype)
    return argument, room.place(wide, _GAP)


def _expanded(room: Room) -> Pair:
    one = room.place(room.torch.empty((), dtype=room.result.dtype))
    return room.place(room.argument), one.expand(tuple(room.result.shape))


def _own_storage(room: Room) -> Pair:
    """No memory to spare: resizing allocates."""
    argument = room.argument.clone()
    return argument, argument.view(-1) if argument.is_contiguous() else argument.detach()


RELATIONS: dict[str, Callable[[Room], Pair]] = {
    function.__name__.strip("_"): function
    for function in (
        _same,
        _view,
        _at_the_start,
        _transposed,
        _transposed_argument,
        _ahead,
        _behind,
        _interleaved,
        _spread,
        _other_storage,
        _other_storage_same,
        _too_small,
        _no_elements,
        _too_large,
        _expanded,
        _own_storage,
    )
}


# Those where both have the sizes that the sample gives them.
_IN_PLACE = (
    "same",
    "view",
    "at_the_start",
    "transposed",
    "ahead",
    "behind",
    "interleaved",
    "spread",
    "other_storage",
    "other_storage_same",
)

Announce = Callable[[str], None]


@dataclass
class Case:
    """One call: the arguments, the tensors to write to, and which argument shares their memory."""

    name: str
    sample: SampleInput
    outs: list[Any]
    argument: int


def has_out(operator: Operator) -> bool:
    return "out" in operator.variants and "function" in operator.variants


# In place of the elements, they change the sizes or the memory of self.
_KEEP_ELEMENTS = frozenset(["resize_as_", "set_"])


def writes_in_place(operator: Operator) -> bool:
    """Whether a form writes to the elements of self while it reads another tensor."""
    tensors = operator.schema.arguments.tensors
    written = [argument.name for argument in tensors if argument.is_write]
    writes = "inplace" in operator.variants or written == ["self"]
    return (
        operator.called is None and len(tensors) > 1 and writes and operator.base_name not in _KEEP_ELEMENTS
    )


def problems_of_out(torch: Any, operator: Operator, limit: int, announce: Announce) -> list[str]:
    """What is wrong with out= calls made from the first ``limit`` samples, one line for each relation."""
    function = function_of(operator, torch)
    assert function is not None

    def write(case: Case) -> None:
        outs = case.outs[0] if len(case.outs) == 1 else tuple(case.outs)
        function(*case.sample.positional, **case.sample.kwargs, out=outs)

    def expected(case: Case) -> list[Any]:
        return tensors_of(call(operator, torch, case.sample))

    found = Findings(operator, announce)
    for sample in operator.typical_samples(torch)[:limit]:
        plain = outcome(call, operator, torch, sample)
        if plain.error is None:
            for case in _out_cases(torch, sample, tensors_of(plain.result)):
                found.look_at(case, write, expected)

    return found.problems


def problems_in_place(torch: Any, operator: Operator, limit: int, announce: Announce) -> list[str]:
    """The same for the in-place form, whose self shares memory with another argument."""
    form = call if operator.is_mutation else inplace

    def write(case: Case) -> None:
        form(operator, torch, case.sample)

    def expected(case: Case) -> list[Any]:
        apart = case.sample.map(lambda tensor: tensor.clone())
        return tensors_of(form(operator, torch, apart))[:1]

    found = Findings(operator, announce)
    for sample in operator.typical_samples(torch)[:limit]:
        own = sample.input
        apart = sample.map(lambda tensor: tensor.detach().clone())
        if method_parts(operator, sample) is None or outcome(form, operator, torch, apart).error is not None:
            continue
        for position, argument in enumerate(sample.tensors()[1:], start=1):
            for case in _shared(torch, sample, position, argument, own, _IN_PLACE):
                if case.outs[0].shape != own.shape or case.outs[0].dtype != own.dtype:
                    continue
                case.sample = SampleInput(case.outs[0], *case.sample.args, **case.sample.kwargs)
                case.outs[0].copy_(own)
                found.look_at(case, write, expected)

    return found.problems


def _out_cases(torch: Any, sample: SampleInput, results: list[Any]) -> Iterator[Case]:
    """Every argument with every result in every relation."""
    for position, argument in enumerate(sample.tensors()):
        for place, result in enumerate(results):
            for case in _shared(torch, sample, position, argument, result, tuple(RELATIONS)):
                shared = case.outs[0]
                case.outs = [torch.empty_like(tensor) for tensor in results]
                case.outs[place] = shared
                yield case


def _shared(
    torch: Any, sample: SampleInput, position: int, argument: Any, result: Any, names: tuple[str, ...]
) -> Iterator[Case]:
    """The sample with argument number ``position`` in memory that a tensor like ``result`` shares."""
    for name in names:
        shared, out = RELATIONS[name](Room(torch, argument, result))
        if shared.numel() > 0:
            shared.copy_(argument)
        place = iter(range(len(sample.tensors())))
        placed = sample.map(
            lambda tensor: shared if next(place) == position else tensor.detach().clone()  # noqa: B023
        )
        yield Case(name, placed, [out], position)


class Findings:
    """Makes calls and collects what is wrong with them, once for each relation."""

    def __init__(self, operator: Operator, announce: Announce) -> None:
        self._operator = operator
        self._announce = announce
        self._found: dict[str, str] = {}

    @property
    def problems(self) -> list[str]:
        return list(self._found.values())

    def look_at(
        self, case: Case, write: Callable[[Case], None], expected: Callable[[Case], list[Any]]
    ) -> None:
        text = f"{self._operator}{case.sample}: argument {case.argument} shares memory, {case.name}"
        self._announce(text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem = self._problem(case, write, expected)
        if problem is not None:
            self._found.setdefault(case.name, f"{text}: {problem}")

    def _problem(
        self, case: Case, write: Callable[[Case], None], expected: Callable[[Case], list[Any]]
    ) -> str | None:
        apart = outcome(expected, case)
        if apart.error is not None:
            return None  # such strides or values are refused anyway
        wanted = [tensor.clone() for tensor in apart.result]
        arguments = case.sample.tensors()
        before = [_state(tensor) for tensor in arguments]

        try:
            write(case)
        except Exception as error:
            return _problem_of_refusal(error, arguments, before)

        for position, (tensor, state) in enumerate(zip(arguments, before)):
            is_written = position == case.argument or any(tensor is out for out in case.outs)
            if not is_written and not _is_equal(_state(tensor), state):
                return f"argument {position} was changed"
        return None if self._has_no_values() else _difference(case.outs, wanted)

    def _has_no_values(self) -> bool:
        return self._operator.is_random or str(self._operator) in WITHOUT_VALUES


def _difference(outs: list[Any], wanted: list[Any]) -> str | None:
    try:
        # An ``out`` may keep another dtype that can store the result.
        assert_same(outs, [tensor.to(out.dtype) for tensor, out in zip(wanted, outs)], "result")
    except AssertionError as error:
        return str(error)
    return None


def _problem_of_refusal(error: Exception, arguments: list[Any], before: list[Any]) -> str | None:
    if not isinstance(error, (RuntimeError, TypeError)) or not re.search(_REFUSAL, str(error)):
        return f"raised {type(error).__name__}: {str(error)[:150]}"
    for position, (tensor, state) in enumerate(zip(arguments, before)):
        if not _is_equal(_state(tensor), state):
            return f"the refusal changed argument {position}: {str(error)[:100]}"
    return None


def _state(tensor: Any) -> tuple[Any, ...]:
    return tuple(tensor.shape), tuple(tensor.stride()), to_numpy(tensor).copy()


def _is_equal(now: tuple[Any, ...], then: tuple[Any, ...]) -> bool:
    return now[:2] == then[:2] and bool(np.array_equal(now[2], then[2], equal_nan=then[2].dtype.kind in "fc"))
