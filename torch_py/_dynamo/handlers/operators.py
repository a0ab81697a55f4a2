"""Operators, attributes, containers and formatted strings, and the patterns of `match` statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_py._dynamo import attributes, operations
from torch_py._dynamo.frame import NULL, Frame
from torch_py._dynamo.handlers import addition, collection, expression, push, statement
from torch_py._tensor import Tensor

binary = expression(2, operations.binary)
unary = expression(1, operations.unary)
is_op = expression(2, lambda capture, negated, *pair: operations.is_same(capture, *pair) is not bool(negated))
contains_op = expression(
    2, lambda capture, negated, *pair: operations.contains(capture, *reversed(pair)) is not bool(negated)
)
binary_subscr = expression(2, lambda capture, _, owner, key: operations.subscript(capture, owner, key))
binary_slice = expression(
    3, lambda capture, _, owner, *ends: operations.subscript(capture, owner, slice(*ends))
)

store_subscr = statement(
    3, lambda capture, _, value, owner, key: operations.store_subscript(capture, owner, key, value)
)
store_slice = statement(
    4, lambda capture, _, value, owner, *ends: operations.store_subscript(capture, owner, slice(*ends), value)
)
delete_subscr = statement(2, lambda capture, _, owner, key: operations.delete_subscript(capture, owner, key))

load_attr = expression(1, lambda capture, name, owner: attributes.load(capture, owner, name))
store_attr = statement(2, lambda capture, name, value, owner: attributes.store(capture, owner, name, value))
delete_attr = statement(1, lambda capture, name, owner: attributes.delete(capture, owner, name))

get_iter = expression(1, lambda capture, _, value: operations.iterator_of(capture, value))
get_yield_from_iter = get_iter


# Containers


def _set(capture: Any, items: list[Any]) -> Any:
    capture.use_fields(items)
    capture.tells_apart(*items)
    return capture.made(set(items))


def _map(capture: Any, items: list[Any]) -> Any:
    capture.use_fields(items[::2])
    return capture.made(dict(zip(items[::2], items[1::2])))


build_tuple = collection(lambda capture, items: tuple(items))
build_list = collection(lambda capture, items: capture.made(items))
build_set = collection(_set)
build_map = collection(_map, size=lambda count: 2 * count)
build_const_key_map = collection(
    lambda capture, items: capture.made(dict(zip(items[-1], items))), size=lambda count: count + 1
)
build_string = collection(lambda capture, items: "".join(map(capture.as_number, items)))
build_slice = collection(lambda capture, items: slice(*items))


# Additions to a container below the top


# The container may have come from outside: it was begun before the graph has ended, and is finished after it.


def _add(capture: Any, target: set[Any], value: Any) -> None:
    capture.change(target)
    capture.use_key(target, value)
    target.add(value)


def _update_set(capture: Any, target: set[Any], other: Any) -> None:
    elements = capture.elements_of(other)
    capture.change(target)
    capture.use_fields([*target, *elements])
    target.update(elements)


def _update_dict(capture: Any, target: dict[Any, Any], other: Any) -> None:
    if not hasattr(other, "keys"):
        raise TypeError(f"'{type(other).__name__}' object is not a mapping")
    capture.add_keys(target, capture.items_of(other))


list_append = addition(1, lambda capture, target, value: capture.append_to(target, [value]))
list_extend = addition(1, lambda capture, target, more: capture.append_to(target, capture.elements_of(more)))
map_add = addition(2, lambda capture, target, key, value: capture.add_keys(target, {key: value}))
set_add = addition(1, _add)
set_update = addition(1, _update_set)
dict_update = addition(1, _update_dict)


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


list_to_tuple = expression(1, lambda capture, _, value: tuple(capture.elements_of(value)))


# Unpacking


def unpack_sequence(frame: Frame, count: int) -> None:
    kind = type(frame.stack[-1])
    if not hasattr(kind, "__iter__") and not hasattr(kind, "__getitem__"):
        raise TypeError(f"cannot unpack non-iterable {kind.__name__} object")
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
    pops = 2 if arg & 4 else 1
    value, specification = [*frame.stack[-pops:], ""][:2]
    frame.stack[-pops:] = [operations.formatted(frame.capture, arg & 3, value, specification)]


convert_value = expression(1, operations.formatted)


# Patterns


# Classes whose one positional pattern is the object itself.
_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, Tensor))


get_len = push(lambda frame, _: frame.capture.call(len, (frame.stack[-1],), {}))
match_mapping = push(lambda frame, _: isinstance(frame.stack[-1], Mapping))
match_sequence = push(lambda frame, _: _is_sequence(frame.stack[-1]))


def _values_of_keys(frame: Frame, arg: Any) -> tuple[Any, ...] | None:
    """The values of the keys, or None if one is missing."""
    subject, keys = frame.stack[-2:]
    if not all(operations.contains(frame.capture, subject, key) for key in keys):
        return None
    return tuple(operations.subscript(frame.capture, subject, key) for key in keys)


match_keys = push(_values_of_keys)


def match_keys_with_flag(frame: Frame, arg: Any) -> None:
    """Like `match_keys`, followed by whether all are there."""
    match_keys(frame, arg)
    frame.stack.append(frame.stack[-1] is not None)


def _match_class(capture: Any, count: int, subject: Any, kind: Any, names: Any) -> tuple[Any, ...] | None:
    """The attributes of an object of a class, by the names of keyword patterns and by position; or None."""
    if not capture.call(isinstance, (subject, kind), {}):
        return None

    found: list[Any] = []
    if count:
        positional = capture.call(getattr, (kind, "__match_args__", None), {})
        is_itself = positional is None and issubclass(kind, _SELF_MATCHING)
        most = 1 if is_itself else len(positional or ())
        if count > most:
            patterns = "positional sub-pattern" if most == 1 else "positional sub-patterns"
            raise TypeError(f"{kind.__name__}() accepts {most} {patterns} ({count} given)")
        if is_itself:
            found.append(subject)
        else:
            names = (*positional[:count], *names)

    for name in names:
        try:
            found.append(attributes.load(capture, subject, name))
        except AttributeError:
            return None
    return tuple(found)


match_class = expression(3, _match_class)


def match_class_with_flag(frame: Frame, count: int) -> None:
    match_class(frame, count)
    frame.stack.append(frame.stack[-1] is not None)


def copy_dict_without_keys(frame: Frame, arg: Any) -> None:
    subject, keys = frame.stack[-2:]
    rest = frame.capture.items_of(subject)
    for key in keys:
        del rest[key]
    frame.stack[-1] = frame.capture.made(rest)
