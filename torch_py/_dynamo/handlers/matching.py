"""`match` statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_py._dynamo import attributes, operations
from torch_py._dynamo.frame import Frame
from torch_py._tensor import Tensor

# Classes whose one positional pattern is the object itself.
_SELF_MATCHING = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def get_len(frame: Frame, arg: Any) -> None:
    value = frame.stack[-1]
    frame.stack.append(frame.capture.call(len, (value,), {}))


def match_mapping(frame: Frame, arg: Any) -> None:
    frame.stack.append(isinstance(frame.stack[-1], Mapping))


def match_sequence(frame: Frame, arg: Any) -> None:
    value = frame.stack[-1]
    is_text = isinstance(value, (str, bytes, bytearray))
    frame.stack.append(isinstance(value, Sequence) and not is_text and not isinstance(value, Tensor))


def match_keys(frame: Frame, arg: Any) -> None:
    """Pushes the values of the keys, or None if one is missing."""
    subject, keys = frame.stack[-2:]
    found = []
    for key in keys:
        if not operations.contains(frame.capture, subject, key):
            frame.stack.append(None)
            return
        found.append(operations.subscript(frame.capture, subject, key))
    frame.stack.append(tuple(found))


def match_keys_with_flag(frame: Frame, arg: Any) -> None:
    """Like `match_keys`, followed by whether all are there."""
    match_keys(frame, arg)
    frame.stack.append(frame.stack[-1] is not None)


def match_class(frame: Frame, count: int) -> None:
    """Replaces subject, class and names of keyword patterns by the attributes, or None."""
    frame.stack[-3:] = [_match_class(frame, count)]


def match_class_with_flag(frame: Frame, count: int) -> None:
    found = _match_class(frame, count)
    frame.stack[-3:] = [found, found is not None]


def _match_class(frame: Frame, count: int) -> tuple[Any, ...] | None:
    subject, kind, names = frame.stack[-3:]
    capture = frame.capture
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


def copy_dict_without_keys(frame: Frame, arg: Any) -> None:
    subject, keys = frame.stack[-2:]
    rest = frame.capture.items_of(subject)
    for key in keys:
        del rest[key]
    frame.stack[-1] = frame.capture.made(rest)
