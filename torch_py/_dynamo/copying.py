"""What `copy` and `pickle` ask objects for: `object.__reduce_ex__`, as the interpreter does it."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import attributes
from torch_py._dynamo.attributes import fields_of, in_class
from torch_py._dynamo.breaks import unsupported_call
from torch_py._dynamo.journal import ABSENT

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def reduced(capture: Capture, owner: Any, protocol: int = 0) -> Any:
    """``owner.__reduce_ex__(protocol)`` for objects that keep their state in a dictionary."""
    kind = type(owner)
    own = in_class(kind, "__reduce__")
    if own is not object.__reduce__:
        return capture.call(attributes.load(capture, owner, "__reduce__"), (), {})
    if protocol < 2 or not _is_ordinary(kind):
        raise unsupported_call(f"{kind.__name__}.__reduce_ex__")

    capture.depends_on_class(kind, "__reduce__")
    maker, arguments = _construction(capture, owner, kind)
    state = _state_of(capture, owner, kind)
    elements = capture.elements_of(owner) if isinstance(owner, list) else None
    entries = list(capture.items_of(owner).items()) if isinstance(owner, dict) else None
    return capture.made(
        (
            maker,
            arguments,
            state,
            None if elements is None else iter(elements),
            None if entries is None else iter(entries),
        )
    )


def _is_ordinary(kind: type) -> bool:
    """Whether an object consists of its dictionary, and of its contents if it is a list or dictionary."""
    has_slots = any(owner.__dict__.get("__slots__") for owner in kind.__mro__)
    bases = [owner for owner in kind.__mro__ if owner.__flags__ & (1 << 9) == 0]
    return not has_slots and set(bases) <= {object, list, dict}


def _construction(capture: Capture, owner: Any, kind: type) -> tuple[Any, tuple[Any, ...]]:
    fixed = capture.fixed(kind, kind.__name__) if not capture.is_new(kind) else kind
    if in_class(kind, "__getnewargs_ex__") is not ABSENT:
        args, kwargs = capture.call(attributes.load(capture, owner, "__getnewargs_ex__"), (), {})
        maker = copyreg.__newobj_ex__  # type: ignore[attr-defined]
        return capture.fixed(maker, "copyreg.__newobj_ex__"), capture.made((fixed, args, kwargs))

    args = ()
    if in_class(kind, "__getnewargs__") is not ABSENT:
        args = capture.call(attributes.load(capture, owner, "__getnewargs__"), (), {})
    maker = copyreg.__newobj__  # type: ignore[attr-defined]
    return capture.fixed(maker, "copyreg.__newobj__"), capture.made((fixed, *args))


def _state_of(capture: Capture, owner: Any, kind: type) -> Any:
    """What `__getstate__` gives: by default the dictionary itself, or None if it is empty."""
    getter = in_class(kind, "__getstate__")
    if getter is not ABSENT and getter is not getattr(object, "__getstate__", None):
        return capture.call(attributes.load(capture, owner, "__getstate__"), (), {})
    if fields_of(owner) is None:
        return None
    fields = attributes.load(capture, owner, "__dict__")
    if len(fields) == 0:
        capture.use_length(fields)
        return None
    return fields
