"""Building, extending and unpacking containers, and formatted strings."""

from __future__ import annotations

from typing import Any

from torch_py._dynamo.frame import NULL, Frame
from torch_py._dynamo.operations import formatted


def _top(frame: Frame, count: int) -> list[Any]:
    return frame.stack[len(frame.stack) - count :]


def _replace(frame: Frame, count: int, value: Any) -> None:
    frame.stack[len(frame.stack) - count :] = [value]


def build_tuple(frame: Frame, count: int) -> None:
    _replace(frame, count, tuple(_top(frame, count)))


def build_list(frame: Frame, count: int) -> None:
    _replace(frame, count, frame.capture.made(_top(frame, count)))


def build_set(frame: Frame, count: int) -> None:
    items = _top(frame, count)
    frame.capture.use_fields(items)
    frame.capture.tells_apart(*items)
    _replace(frame, count, frame.capture.made(set(items)))


def build_map(frame: Frame, count: int) -> None:
    items = _top(frame, 2 * count)
    frame.capture.use_fields(items[::2])
    _replace(frame, 2 * count, frame.capture.made(dict(zip(items[::2], items[1::2]))))


def build_const_key_map(frame: Frame, count: int) -> None:
    items = _top(frame, count + 1)
    _replace(frame, count + 1, frame.capture.made(dict(zip(items[-1], items))))


def build_string(frame: Frame, count: int) -> None:
    _replace(frame, count, "".join(map(frame.capture.as_number, _top(frame, count))))


def build_slice(frame: Frame, count: int) -> None:
    _replace(frame, count, slice(*_top(frame, count)))


# Additions to a container below the top


# The container may have come from outside: it was begun before the graph has ended, and is finished after it.


def list_append(frame: Frame, depth: int) -> None:
    frame.capture.append_to(frame.stack[-depth - 1], [frame.stack[-1]])
    frame.stack.pop()


def set_add(frame: Frame, depth: int) -> None:
    target = frame.stack[-depth - 1]
    frame.capture.change(target)
    frame.capture.use_key(target, frame.stack[-1])
    target.add(frame.stack.pop())


def map_add(frame: Frame, depth: int) -> None:
    key, value = frame.stack[-2:]
    frame.capture.add_keys(frame.stack[-depth - 2], {key: value})
    del frame.stack[-2:]


def list_extend(frame: Frame, depth: int) -> None:
    elements = frame.capture.elements_of(frame.stack[-1])
    frame.capture.append_to(frame.stack[-depth - 1], elements)
    frame.stack.pop()


def set_update(frame: Frame, depth: int) -> None:
    elements = frame.capture.elements_of(frame.stack[-1])
    target = frame.stack[-depth - 1]
    frame.capture.change(target)
    frame.capture.use_fields([*target, *elements])
    frame.stack.pop()
    target.update(elements)


def dict_update(frame: Frame, depth: int) -> None:
    other = frame.stack[-1]
    if not hasattr(other, "keys"):
        raise TypeError(f"'{type(other).__name__}' object is not a mapping")
    items = frame.capture.items_of(other)
    frame.capture.add_keys(frame.stack[-depth - 1], items)
    frame.stack.pop()


def dict_merge(frame: Frame, depth: int) -> None:
    other = frame.stack[-1]
    if not hasattr(other, "keys"):
        raise TypeError(f"argument after ** must be a mapping, not {type(other).__name__}")
    items = frame.capture.items_of(other)
    target = frame.stack[-depth - 1]
    frame.capture.change(target)
    for key in filter(target.__contains__, items):
        callee = next(value for value in reversed(frame.stack[: -depth - 2]) if value is not NULL)
        name = f"{callee.__module__}.{callee.__qualname__}()"
        raise TypeError(f"{name} got multiple values for keyword argument '{key}'")
    frame.stack.pop()
    target.update(items)


def list_to_tuple(frame: Frame, arg: Any) -> None:
    frame.stack[-1] = tuple(frame.capture.elements_of(frame.stack[-1]))


# Unpacking


def unpack_sequence(frame: Frame, count: int) -> None:
    elements = frame.capture.elements_of(frame.stack[-1], most=count + 1)
    if len(elements) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(elements)})")
    if len(elements) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    frame.stack.pop()
    frame.stack += reversed(elements)


def unpack_ex(frame: Frame, arg: int) -> None:
    before, after = arg & 255, arg >> 8
    elements = frame.capture.elements_of(frame.stack[-1])
    least = before + after
    if len(elements) < least:
        raise ValueError(f"not enough values to unpack (expected at least {least}, got {len(elements)})")
    frame.stack.pop()
    end = len(elements) - after
    parts = [*elements[:before], frame.capture.made(elements[before:end]), *elements[end:]]
    frame.stack += reversed(parts)


# Formatted strings


def format_value(frame: Frame, arg: int) -> None:
    """The two lowest bits of the argument are the conversion; the next tells whether there is a format."""
    value, specification = frame.stack[-2:] if arg & 4 else (frame.stack[-1], "")
    text = formatted(frame.capture, value, arg & 3, specification)
    _replace(frame, 2 if arg & 4 else 1, text)


def convert_value(frame: Frame, conversion: int) -> None:
    frame.stack[-1] = formatted(frame.capture, frame.stack[-1], conversion, None)
