"""Attributes that a program sets or deletes."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.attributes import call_own, fields_of, in_class, is_data_descriptor
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.journal import ABSENT
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def store(capture: Capture, owner: Any, name: str, value: Any, /) -> None:
    """``owner.name = value``."""
    if isinstance(owner, Tensor):
        raise Break(f"assignment to .{name} of a tensor", "only operators change the state of tensors")
    if isinstance(owner, type):
        _store_in_class(capture, owner, name, value)
        return
    if call_own(capture, owner, "__setattr__", name, value) is ABSENT:
        store_plain(capture, owner, name, value)


def store_plain(capture: Capture, owner: Any, name: str, value: Any = ABSENT) -> None:
    """What ``object.__setattr__`` does, and without a value ``object.__delattr__``."""
    kind = type(owner)
    is_deletion = value is ABSENT
    operands = (owner,) if is_deletion else (owner, value)
    found = in_class(kind, name)
    if found is not ABSENT and is_data_descriptor(found):
        capture.depends_on_class(kind, name)
        if isinstance(found, property):
            function = found.fdel if is_deletion else found.fset
            if function is None:
                what = "deleter" if is_deletion else "setter"
                raise AttributeError(f"property {name!r} of {kind.__name__!r} object has no {what}")
            capture.call(function, operands, {})
        elif type(found) is MemberDescriptorType:
            capture.write_slot(owner, name, value)
        elif call_own(capture, found, "__delete__" if is_deletion else "__set__", *operands) is ABSENT:
            _store_natively(capture, owner, name, value)
        return

    fields = fields_of(owner)
    if fields is None or (is_deletion and name not in fields):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    capture.write_field(owner, fields, name, value)


def _store_natively(capture: Capture, owner: Any, name: str, value: Any) -> None:
    """Stores what native code of the class keeps, if it is not known to others."""
    if value is ABSENT or not capture.is_new(owner):
        what = "deletion of" if value is ABSENT else "assignment to"
        raise Break(f"{what} .{name}", f"a {type(owner).__name__} stores it natively")
    setattr(owner, name, value)


def _store_in_class(capture: Capture, owner: type, name: str, value: Any) -> None:
    if capture.is_new(owner):
        setattr(owner, name, value)
        return
    before = in_class(owner, name)
    is_plain = before is not ABSENT and in_class(type(owner), "__setattr__") is type.__setattr__
    if not is_plain or any(in_class(type(item), "__get__") is not ABSENT for item in (before, value)):
        raise Break(
            f"assignment to {owner.__name__}.{name}",
            "it may change which attributes and methods a class has",
            "let the class have the attribute from the start",
        )
    capture.write_class(owner, name, value)


def delete(capture: Capture, owner: Any, name: str, /) -> None:
    """``del owner.name``."""
    if isinstance(owner, (Tensor, type)):
        raise Break(f"deletion of .{name}", "it is not captured for tensors and classes")
    if call_own(capture, owner, "__delattr__", name) is ABSENT:
        store_plain(capture, owner, name)
