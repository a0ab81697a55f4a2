"""What `copy` and `pickle` ask objects for: `object.__reduce_ex__`, as the interpreter does it."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import attributes
from torch_py._dynamo.attributes import HEAP_TYPE, fields_of, in_class
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
    elements = iter(capture.elements_of(owner)) if isinstance(owner, list) else None
    entries = iter(capture.items_of(owner).items()) if isinstance(owner, dict) else None
    return capture.made((maker, arguments, state, elements, entries))


def _is_ordinary(kind: type) -> bool:
    """Whether an object consists of its dictionary, and of its contents if it is a list or dictionary."""
    has_slots = any(owner.__dict__.get("__slots__") for owner in kind.__mro__)
    bases = [owner for owner in kind.__mro__ if not owner.__flags__ & HEAP_TYPE]
    return not has_slots and set(bases) <= {object, list, dict}


def _construction(capture: Capture, owner: Any, kind: type) -> tuple[Any, tuple[Any, ...]]:
    if not capture.is_new(kind):
        capture.fixed(kind, kind.__name__)
    has_keywords = in_class(kind, "__getnewargs_ex__") is not ABSENT
    name = "__getnewargs_ex__" if has_keywords else "__getnewargs__"
    maker: Any = copyreg.__newobj_ex__ if has_keywords else copyreg.__newobj__  # type: ignore[attr-defined]

    has_arguments = in_class(kind, name) is not ABSENT
    given = capture.call(attributes.load(capture, owner, name), (), {}) if has_arguments else ()
    return capture.fixed(maker, f"copyreg.{maker.__name__}"), capture.made((kind, *given))


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
