"""What a `with` statement calls."""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.attributes import bind, in_class
from torch_py._dynamo.journal import ABSENT

if TYPE_CHECKING:
    from torch_py._dynamo.frame import Frame


def enter_and_exit(frame: Frame, manager: Any) -> tuple[Any, Any]:
    """The bound __exit__ of a manager, and what its __enter__ returns."""
    enter = _special(frame, manager, "__enter__")
    leave = _special(frame, manager, "__exit__")
    return leave, frame.capture.call(enter, (), {})


def _special(frame: Frame, manager: Any, name: str) -> Any:
    kind = type(manager)
    found = in_class(kind, name)
    if found is ABSENT:
        what = "context manager protocol"
        raise TypeError(f"{kind.__name__!r} object does not support the {what}")
    if type(found) is FunctionType:
        return bind(frame.capture, found, manager, kind, name)
    return getattr(manager, name)
