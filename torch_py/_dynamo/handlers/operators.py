"""Operators, comparisons and subscripts."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torch_py._dynamo import operations
from torch_py._dynamo.conditions import truth_before_jump
from torch_py._dynamo.frame import Frame


def binary(frame: Frame, function: Callable[[Any, Any], Any]) -> None:
    left, right = frame.stack[-2:]
    result = operations.binary(frame.capture, function, left, right)
    frame.stack.pop()
    frame.stack[-1] = result


def compare(frame: Frame, function: Callable[[Any, Any], Any]) -> None:
    left, right = frame.stack[-2:]
    result = operations.compare(frame.capture, function, left, right)
    frame.stack.pop()
    frame.stack[-1] = result


def compare_as_bool(frame: Frame, function: Callable[[Any, Any], Any]) -> None:
    left, right = frame.stack[-2:]
    result = truth_before_jump(frame, operations.compare(frame.capture, function, left, right))
    frame.stack.pop()
    frame.stack[-1] = result


def unary(frame: Frame, function: Callable[[Any], Any]) -> None:
    frame.stack[-1] = operations.unary(frame.capture, function, frame.stack[-1])


def unary_plus(frame: Frame, arg: Any) -> None:
    unary(frame, operator.pos)


def is_op(frame: Frame, negated: int) -> None:
    left, right = frame.stack[-2:]
    frame.stack.pop()
    frame.stack[-1] = operations.is_same(frame.capture, left, right) is not bool(negated)


def contains(frame: Frame, negated: int) -> None:
    left, right = frame.stack[-2:]
    result = operations.contains(frame.capture, right, left)
    frame.stack.pop()
    frame.stack[-1] = result is not bool(negated)


def subscript(frame: Frame, arg: Any) -> None:
    owner, key = frame.stack[-2:]
    result = operations.subscript(frame.capture, owner, key)
    frame.stack.pop()
    frame.stack[-1] = result


def binary_slice(frame: Frame, arg: Any) -> None:
    owner, start, stop = frame.stack[-3:]
    result = operations.subscript(frame.capture, owner, slice(start, stop))
    del frame.stack[-3:]
    frame.stack.append(result)


def store_slice(frame: Frame, arg: Any) -> None:
    value, owner, start, stop = frame.stack[-4:]
    operations.store_subscript(frame.capture, owner, slice(start, stop), value)
    del frame.stack[-4:]


def store_subscript(frame: Frame, arg: Any) -> None:
    value, owner, key = frame.stack[-3:]
    operations.store_subscript(frame.capture, owner, key, value)
    del frame.stack[-3:]


def delete_subscript(frame: Frame, arg: Any) -> None:
    owner, key = frame.stack[-2:]
    operations.delete_subscript(frame.capture, owner, key)
    del frame.stack[-2:]
