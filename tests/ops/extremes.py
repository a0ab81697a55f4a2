"""Calls of an operator with extreme numbers and shapes, made from its samples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tests.ops.operators import Operator
from tests.ops.samples import SampleInput
from tests.ops.samples.registry import is_tensor

# Around the ends of int32, of float64's integers and of int64, and counts that memory does not hold.
INTEGERS = (0, 1, -1, 10**9, 2**31 - 1, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**31))
PAIRS = (2**31, 2**62, 2**63 - 1)
FLOATS = (0.0, -1.0, 1e9, 1e18, 1e308, float("inf"), float("-inf"), float("nan"))

Path = tuple[int | str, ...]


def extreme_samples(operator: Operator, torch: Any, limit: int) -> Iterator[SampleInput]:
    """The calls made from ``limit`` samples, several hundred for an operator with many numbers.

    Each changes one number of a sample, or two at once, empties dimensions, or puts extreme values into a
    tensor of integers; numbers are changed in calls with empty tensors too.
    """
    for sample in _chosen(operator, torch)[:limit]:
        yield sample
        yield from _with_numbers(operator, sample)
        yield from _with_pairs(operator, sample)
        yield from _with_indices(sample, torch)
        for empty in _emptied(sample, torch):
            yield empty
            yield from _with_numbers(operator, empty)


def _chosen(operator: Operator, torch: Any) -> list[SampleInput]:
    """Samples that differ in the kinds of their arguments, of the first dtype that has any."""
    chosen: dict[str, SampleInput] = {}
    for dtype in operator.dtypes_under_test():
        for sample in operator.samples(torch, dtype, requires_grad=operator.is_differentiable):
            kinds = f"{_shape_of(sample.positional)} {sorted(sample.kwargs)}"
            if all(tensor.numel() > 0 for tensor in sample.tensors()):
                chosen.setdefault(kinds, sample)
        if chosen:
            break

    # Those with the most arguments reach the most checks.
    return sorted(chosen.values(), key=lambda sample: -len(list(_places(sample))))


def _shape_of(value: Any) -> str:
    if is_tensor(value):
        return f"T{value.dim()}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_shape_of, value))}]"
    return type(value).__name__


# Numbers


def _places(sample: SampleInput) -> Iterator[tuple[Path, Any]]:
    """Where numbers and lists of numbers are, and what is there."""

    def walk(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield path, value
        elif isinstance(value, (list, tuple)):
            if not any(map(is_tensor, value)):
                yield path, value
            for index, item in enumerate(value):
                yield from walk((*path, index), item)

    for index, value in enumerate(sample.positional):
        yield from walk((index,), value)
    for name, value in sample.kwargs.items():
        yield from walk((name,), value)


def _with(sample: SampleInput, path: Path, value: Any) -> SampleInput:
    def put(old: Any, rest: Path) -> Any:
        if not rest:
            return value
        return type(old)(put(item, rest[1:]) if index == rest[0] else item for index, item in enumerate(old))

    positional = [
        put(old, path[1:]) if index == path[0] else old for index, old in enumerate(sample.positional)
    ]
    keywords = {name: put(old, path[1:]) if name == path[0] else old for name, old in sample.kwargs.items()}
    return SampleInput(*positional, **keywords)


def _completed(operator: Operator, sample: SampleInput) -> SampleInput:
    """The call with the numbers that it left to their defaults."""
    keywords = dict(sample.kwargs)
    for argument in operator.schema.arguments.flat_non_out[len(sample.positional) :]:
        if argument.name in keywords or not argument.has_default:
            continue
        if str(argument.type).removesuffix("?") in ("int", "SymInt"):
            keywords[argument.name] = 1
        elif str(argument.type).removesuffix("?") in ("float", "Scalar"):
            keywords[argument.name] = 1.0
    return SampleInput(*sample.positional, **keywords)


def _values_for(value: Any) -> Iterator[Any]:
    if isinstance(value, int):
        yield from INTEGERS
    elif isinstance(value, float):
        yield from (*FLOATS, 10**9, 2**63 - 1)
    else:
        yield from _lists_for(value)


def _lists_for(value: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
    """Other lengths, and the same extreme number everywhere."""
    kind = type(value)
    yield kind()
    yield kind(value[:1])
    yield kind([*value, *value[:1]])
    yield kind([*value] * 70)
    for number in INTEGERS:
        yield kind([number] * len(value))
    yield kind([0, *([2**62] * (len(value) - 1))])


def _with_numbers(operator: Operator, sample: SampleInput) -> Iterator[SampleInput]:
    completed = _completed(operator, sample)
    for base in (sample, completed):
        for path, old in list(_places(base)):
            if base is completed and (path[0] in sample.kwargs or isinstance(path[0], int)):
                continue
            for value in _values_for(old):
                yield _with(sample, path, value) if base is sample else _with_keyword(sample, path, value)


def _with_keyword(sample: SampleInput, path: Path, value: Any) -> SampleInput:
    return SampleInput(*sample.positional, **{**sample.kwargs, str(path[0]): value})


def _with_pairs(operator: Operator, sample: SampleInput) -> Iterator[SampleInput]:
    numbers = [path for path, old in _places(sample) if isinstance(old, int)]
    for first, second in itertools.islice(itertools.combinations(numbers, 2), 15):
        for one, other in itertools.product(PAIRS, PAIRS):
            yield _with(_with(sample, first, one), second, other)


# Tensors


def _with_indices(sample: SampleInput, torch: Any) -> Iterator[SampleInput]:
    for chosen in {id(tensor): tensor for tensor in sample.tensors()}.values():
        if chosen.dtype not in (torch.int64, torch.int32) or chosen.numel() == 0:
            continue
        for number in (-1, 2**31 - 1, -(2**31), 2**40, 2**62, 2**63 - 1, -(2**63)):
            if chosen.dtype == torch.int32 and abs(number) > 2**31:
                continue
            yield _with_tensor(sample, chosen, torch.full_like(chosen, number))


def _with_tensor(sample: SampleInput, chosen: Any, other: Any) -> SampleInput:
    def replaced(old: Any) -> Any:
        return other if old is chosen else old

    return sample.map(replaced)


def _emptied(sample: SampleInput, torch: Any) -> Iterator[SampleInput]:
    """Each size of the call becomes 0 wherever it is, then each dimension of each tensor alone."""
    tensors = list({id(tensor): tensor for tensor in sample.tensors()}.values())
    for size in sorted({size for tensor in tensors for size in tensor.shape if size > 0}):
        yield sample.map(lambda old, size=size: _without(torch, old, {size}, None))
    for chosen in tensors:
        for dim in range(chosen.dim()):
            yield _with_tensor(sample, chosen, _without(torch, chosen, set(), dim))
        if chosen.dim() > 0 and chosen.numel() > 0:
            yield _with_tensor(sample, chosen, chosen.detach().reshape(-1)[0])


def _without(torch: Any, tensor: Any, sizes: set[int], dim: int | None) -> Any:
    shape = [0 if size in sizes or place == dim else size for place, size in enumerate(tensor.shape)]
    if shape == list(tensor.shape):
        return tensor
    made = torch.empty(shape, dtype=tensor.dtype)
    return made.requires_grad_() if tensor.requires_grad else made
