"""How compiled code does the instruction at which a graph ends."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import iteration
from torch_py._dynamo.call_parts import call_parts

if TYPE_CHECKING:
    from torch_py._dynamo.rebuild import Rebuild
    from torch_py._dynamo.stops import Stop


class Step:
    """An operation on the stack: how many values it takes, how many it gives, and its text."""

    kind = "operation"

    def __init__(self, pops: int, results: int, text: Callable[[Rebuild], str]) -> None:
        self.pops = pops
        self.results = results
        self.text = text


class Jump:
    """A branch on the truth of the top."""

    kind = "jump"

    def __init__(self, if_true: bool, keeps: bool) -> None:
        self.if_true = if_true
        self.keeps = keeps

    def branches(self, stop: Stop) -> list[tuple[str, int, bool]]:
        """(condition or nothing, offset, whether the top stays) if it jumps, and if it does not."""
        test = "{}" if self.if_true else "not {}"
        return [(test, stop.instruction.arg, self.keeps), ("", stop.instruction.end, False)]


class Iterate:
    """The next element of an iterator, which is dropped at the end."""

    kind = "iterate"
    end = iteration.END


def of(stop: Stop) -> Any:
    """How to do the instruction at which a frame stops; None if only CPython can."""
    op = stop.instruction.op
    if op in _JUMPS:
        return _JUMPS[op]
    if op == "for_iter":
        return Iterate()
    if op.startswith("call"):
        return _call(stop)
    make = _OPERATIONS.get(op)
    return None if make is None else make(stop)


_JUMPS = {
    "jump_if_true": Jump(True, False),
    "jump_if_false": Jump(False, False),
    "jump_if_true_or_pop": Jump(True, True),
    "jump_if_false_or_pop": Jump(False, True),
}


# Calls


def _call(stop: Stop) -> Step | None:
    frame = stop.frame
    parts = call_parts(frame.program, stop.instruction, stop.stack, frame.keyword_names)
    if parts is None:
        return None
    stop.base, callee, args, kwargs = parts

    def text(rebuild: Rebuild) -> str:
        given = [rebuild.value(value) for value in args]
        given += [
            f"{name}={rebuild.value(value)}"
            if name.isidentifier()
            else f"**{{{name!r}: {rebuild.value(value)}}}"
            for name, value in kwargs.items()
        ]
        return f"{rebuild.value(callee)}({', '.join(given)})"

    return Step(len(stop.stack) - stop.base, 1, text)


# Other operations


def _apply(count: int, results: int = 1) -> Callable[[Stop], Step]:
    """The function of the instruction, applied to the topmost values."""

    def make(stop: Stop) -> Step:
        function = stop.instruction.arg
        return _function_step(stop, function, stop.stack[len(stop.stack) - count :], results)

    return make


def _function_step(
    stop: Stop, function: Any, operands: list[Any], results: int, pops: int | None = None
) -> Step:
    def text(rebuild: Rebuild) -> str:
        name = rebuild.constant(function, function.__name__)
        return f"{name}({', '.join(map(rebuild.value, operands))})"

    return Step(len(operands) if pops is None else pops, results, text)


def _load_attr(stop: Stop) -> Step:
    return _function_step(stop, getattr, [stop.stack[-1], stop.instruction.arg], 1, pops=1)


def _contains(stop: Stop) -> Step:
    value, container = stop.stack[-2:]
    function = not_contains if stop.instruction.arg else operator.contains
    return _function_step(stop, function, [container, value], 1)


def not_contains(container: Any, value: Any) -> bool:
    return value not in container


def _store_attr(stop: Stop) -> Step:
    value, owner = stop.stack[-2:]
    return _function_step(stop, setattr, [owner, stop.instruction.arg, value], 0, pops=2)


def store_item(value: Any, owner: Any, key: Any) -> None:
    owner[key] = value


def delete_item(owner: Any, key: Any) -> None:
    del owner[key]


def _store_subscript(stop: Stop) -> Step:
    return _function_step(stop, store_item, stop.stack[-3:], 0)


def _delete_subscript(stop: Stop) -> Step:
    return _function_step(stop, delete_item, stop.stack[-2:], 0)


def text_of(value: Any, conversion: int, specification: str = "") -> str:
    if conversion:
        value = (str, repr, ascii)[conversion - 1](value)
    return format(value, specification)


def _format_value(stop: Stop) -> Step:
    has_format = bool(stop.instruction.arg & 4)
    value = stop.stack[-2] if has_format else stop.stack[-1]
    specification = stop.stack[-1] if has_format else ""
    operands = [value, stop.instruction.arg & 3, specification]
    return _function_step(stop, text_of, operands, 1, pops=2 if has_format else 1)


def _unpack(stop: Stop) -> Step:
    count = stop.instruction.arg

    def unpack(value: Any) -> list[Any]:
        parts = list(value)
        if len(parts) != count:
            few = len(parts) < count
            raise ValueError(
                f"not enough values to unpack (expected {count}, got {len(parts)})"
                if few
                else f"too many values to unpack (expected {count})"
            )
        return parts[::-1]

    return _function_step(stop, unpack, [stop.stack[-1]], count) if count > 1 else None  # type: ignore[return-value]


def _get_iter(stop: Stop) -> Step:
    return _function_step(stop, iter, [stop.stack[-1]], 1)


def _to_bool(stop: Stop) -> Step:
    return _function_step(stop, bool, [stop.stack[-1]], 1)


def _compare_as_bool(stop: Stop) -> Step:
    compare = stop.instruction.arg

    def is_true(left: Any, right: Any) -> bool:
        return bool(compare(left, right))

    return _function_step(stop, is_true, stop.stack[-2:], 1)


def _unary(stop: Stop) -> Step:
    return _function_step(stop, stop.instruction.arg, [stop.stack[-1]], 1)


_OPERATIONS: dict[str, Callable[[Stop], Step]] = {
    "binary": _apply(2),
    "compare": _apply(2),
    "compare_as_bool": _compare_as_bool,  # since Python 3.13
    "unary": _unary,
    "subscript": lambda stop: _function_step(stop, operator.getitem, stop.stack[-2:], 1),
    "contains": _contains,
    "load_attr": _load_attr,
    "store_attr": _store_attr,
    "store_subscript": _store_subscript,
    "delete_subscript": _delete_subscript,
    "format_value": _format_value,
    "unpack_sequence": _unpack,
    "get_iter": _get_iter,
    "to_bool": _to_bool,
}
