"""Operators, comparisons and subscripts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_py._dynamo import operations
from torch_py._dynamo.frame import Frame


def _expression(count: int, function: Callable[..., Any]) -> Callable[[Frame, Any], None]:
    """Replaces the topmost values by what a function of capture, argument and values returns."""

    def handler(frame: Frame, arg: Any) -> None:
        result = function(frame.capture, arg, *frame.stack[-count:])
        frame.stack[-count:] = [result]

    return handler


def _statement(count: int, function: Callable[..., None]) -> Callable[[Frame, Any], None]:
    """Takes the topmost values for a function of capture and values."""

    def handler(frame: Frame, arg: Any) -> None:
        function(frame.capture, *frame.stack[-count:])
        del frame.stack[-count:]

    return handler


def _is(capture: Any, negated: int, left: Any, right: Any) -> bool:
    return operations.is_same(capture, left, right) is not bool(negated)


def _contains(capture: Any, negated: int, value: Any, container: Any) -> bool:
    return operations.contains(capture, container, value) is not bool(negated)


def _slice(capture: Any, arg: Any, owner: Any, start: Any, stop: Any) -> Any:
    return operations.subscript(capture, owner, slice(start, stop))


def _store_slice(capture: Any, value: Any, owner: Any, start: Any, stop: Any) -> None:
    operations.store_subscript(capture, owner, slice(start, stop), value)


def _store(capture: Any, value: Any, owner: Any, key: Any) -> None:
    operations.store_subscript(capture, owner, key, value)


binary = _expression(2, operations.binary)
unary = _expression(1, operations.unary)
is_op = _expression(2, _is)
contains_op = _expression(2, _contains)
binary_subscr = _expression(2, lambda capture, _, owner, key: operations.subscript(capture, owner, key))
binary_slice = _expression(3, _slice)

store_subscr = _statement(3, _store)
store_slice = _statement(4, _store_slice)
delete_subscr = _statement(2, operations.delete_subscript)
