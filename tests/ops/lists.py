"""Calls of list operators, made from calls of the operator that they apply to each element."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from codegen.schema import Argument, FunctionSchema
from tests.ops.samples import ErrorInput, SampleInput
from tests.ops.samples.registry import is_tensor

# How an argument of the called operator is made, and the position of the argument it is made from.
Making = tuple[str, int]
_LENGTH = 3


def list_samples(
    schema: FunctionSchema,
    called: Sequence[Argument],
    making: Sequence[Making],
    calls: list[dict[str, Any]],
    torch: Any,
) -> list[SampleInput]:
    """Joins ``calls``, given by name of argument, to calls of up to three tensors.

    The calls of a list agree in all arguments that the list shares.
    """
    if schema.is_inplace:
        calls = [call for call in calls if _fits_in_place(call)]

    shared = [a.name for a, (kind, _) in zip(called, making) if kind in ("same", "default", "number")]
    groups: dict[str, list[dict[str, Any]]] = {}

    for call in calls:
        if _is_suitable(call, called, making):
            groups.setdefault(repr([_text(call.get(name)) for name in shared]), []).append(call)
    found = []
    for group in groups.values():
        for start in range(0, len(group), _LENGTH):
            found.append(_sample(schema, called, making, group[start : start + _LENGTH], torch))
    return found


def _text(value: Any) -> str:
    return f"tensor of {value.dtype}" if is_tensor(value) else repr(value)


def _is_suitable(call: dict[str, Any], called: Sequence[Argument], making: Sequence[Making]) -> bool:
    for argument, (kind, _) in zip(called, making):
        value = call.get(argument.name)
        if kind == "default" and value is not None:
            return False
        if argument.type.is_tensor_like and kind in ("each", "single") and not is_tensor(value):
            return False
        if kind in ("single", "number", "numbers") and is_tensor(value) and value.numel() == 0:
            return False
    return True


def _fits_in_place(call: dict[str, Any]) -> bool:
    """Whether the result has the shape and dtype of self, and the elements of self do not share memory."""
    own = call["self"]
    tensors = [value for value in call.values() if is_tensor(value)]
    if not is_tensor(own) or 0 in [stride for stride, size in zip(own.stride(), own.shape) if size > 1]:
        return False
    return all(
        tensor.dtype == own.dtype and _fits(tuple(tensor.shape), tuple(own.shape)) for tensor in tensors
    )


def _fits(shape: tuple[int, ...], into: tuple[int, ...]) -> bool:
    return len(shape) <= len(into) and all(a in (1, b) for a, b in zip(shape[::-1], into[::-1]))


def _sample(
    schema: FunctionSchema,
    called: Sequence[Argument],
    making: Sequence[Making],
    group: list[dict[str, Any]],
    torch: Any,
) -> SampleInput:
    values: dict[int, Any] = {}
    for argument, (kind, source) in zip(called, making):
        if kind != "default" and (
            argument.name in group[0] or not argument.has_default or kind in ("each", "packed")
        ):
            column = [
                call.get(argument.name, argument.default_value if argument.has_default else None)
                for call in group
            ]
            values[source] = _made(kind, column, torch)

    positional: list[Any] = []
    keywords: dict[str, Any] = {}

    for position, given in enumerate(schema.arguments.flat_all):
        if position not in values:
            continue
        if position == len(positional) < len(schema.arguments.positional):
            positional.append(values[position])
        else:
            keywords[given.name] = values[position]
    return SampleInput(*positional, **keywords)


def _made(kind: str, column: list[Any], torch: Any) -> Any:
    if kind == "each":
        return column
    if kind == "numbers":
        return [_number(value) for value in column]
    if kind == "packed":
        return (
            torch.tensor([float(value) for value in column])
            if any(isinstance(v, float) for v in column)
            else torch.tensor(column)
        )
    if kind == "number":
        return _number(column[0])
    if kind == "single":
        return column[0].detach().reshape(-1)[0].clone().requires_grad_(column[0].requires_grad)

    return column[0]


def _number(value: Any) -> Any:
    return value.detach().reshape(-1)[0].item() if is_tensor(value) else value


def list_errors(
    schema: FunctionSchema, making: Sequence[Making], sample: SampleInput, torch: Any
) -> Iterator[ErrorInput]:
    """Wrong calls: empty lists, lists of different lengths, tensors of wrong shape in place of numbers."""
    arguments = schema.arguments.flat_all
    kinds = {arguments[source].name: kind for kind, source in making if source >= 0}
    lists = [i for i, a in enumerate(arguments) if a.type.is_list and i < len(sample.positional)]
    empty = [[] if i in lists else value for i, value in enumerate(sample.positional)]

    yield ErrorInput(
        SampleInput(*empty, **sample.kwargs), RuntimeError, f"{schema.base_name}: .*at least one tensor"
    )

    for i in lists[1:]:
        longer = [
            [*value, value[-1]] if position == i else value
            for position, value in enumerate(sample.positional)
        ]
        count = len(sample.positional[i])
        yield ErrorInput(
            SampleInput(*longer, **sample.kwargs),
            RuntimeError,
            f"{schema.base_name}: {arguments[lists[0]].name} has {count} elements, but {arguments[i].name} "
            f"has {count + 1}",
        )

    for i, value in enumerate(sample.positional):
        kind = kinds[arguments[i].name]
        name = arguments[i].name
        if kind == "single":
            changed = [*sample.positional[:i], torch.ones(2, dtype=value.dtype), *sample.positional[i + 1 :]]
            yield ErrorInput(
                SampleInput(*changed, **sample.kwargs),
                RuntimeError,
                rf"{name} must be a tensor of 0 dimensions, .*\[2\]",
            )
        if kind == "packed":
            for wrong, words in (
                (value.reshape(1, -1), "must be a tensor of 1 dimension"),
                (value.new_ones(7), "has 7 elements"),
            ):
                changed = [*sample.positional[:i], wrong, *sample.positional[i + 1 :]]
                yield ErrorInput(SampleInput(*changed, **sample.kwargs), RuntimeError, f"{name} {words}")
