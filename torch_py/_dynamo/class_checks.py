"""`isinstance` and `issubclass` in the program: answers of abstract classes and protocols are guarded."""

from __future__ import annotations

import abc
import types
import typing
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import attributes
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.generator import InterpretedGenerator
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.torch_modules import is_of_python, is_of_torch, module_of
from torch_py._shapes.held import Held
from torch_py._shapes.integers import SymSize
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def is_instance(capture: Capture, value: Any, kinds: Any, /) -> bool:
    if isinstance(value, InterpretedGenerator):
        return isinstance(value, kinds) or kinds is types.GeneratorType
    return _by_hook(capture, "__instancecheck__", value, capture.class_of(value), kinds)


def is_subclass(capture: Capture, value: Any, kinds: Any, /) -> bool:
    if not isinstance(value, type):
        return issubclass(value, kinds)
    return _by_hook(capture, "__subclasscheck__", value, value, kinds)


def _by_hook(capture: Capture, name: str, value: Any, kind: type, kinds: Any) -> bool:
    """Asks classes by their ``__instancecheck__`` or ``__subclasscheck__``: those of the program are
    interpreted, and answers of abstract classes, which others are registered for later, are guarded."""
    if isinstance(kinds, types.UnionType):
        kinds = kinds.__args__
    if isinstance(kinds, tuple):
        return any(_by_hook(capture, name, value, kind, one) for one in kinds)
    found = _by_own_hook(capture, name, value, kinds)
    if found is not None:
        return found
    if isinstance(value, (Tensor, SymSize, Held)):  # stand-ins are of other classes than the program sees
        return issubclass(kind, kinds) or (type(kinds) is not type and isinstance(value, kinds))

    answer = isinstance(value, kinds) if name == "__instancecheck__" else issubclass(value, kinds)
    is_protocol = getattr(kinds, "_is_protocol", False)
    if is_protocol:
        _depend_on_members(capture, value, kind, kinds)
    if not answer and isinstance(kinds, abc.ABCMeta) and not capture.is_new(kinds):
        if not is_protocol or _checks_subclasses(kinds):
            capture.add_abstract(kind, kinds)
    return answer


def _checks_subclasses(protocol: Any) -> bool:
    """Protocols with fields refuse the question, and registering classes for them is not known to help."""
    try:
        issubclass(int, protocol)
    except TypeError:
        return False
    return True


def _depend_on_members(capture: Capture, value: Any, kind: type, protocol: Any) -> None:
    """Guards that an object, or a class, has or lacks what a protocol asks for."""
    fields = None if isinstance(value, type) else attributes.fields_of(value)
    for name in sorted(typing._get_protocol_attrs(protocol)):
        if fields is not None and name in fields and in_class(kind, name) is ABSENT:
            capture.depends_on_type_of_field(value, name)
        else:
            has_attribute(capture, value, name)


def has_attribute(capture: Capture, value: Any, name: str, /) -> bool:
    try:
        attributes.load(capture, value, name)
    except AttributeError:
        return False
    return True


def _by_own_hook(capture: Capture, name: str, value: Any, kinds: Any) -> bool | None:
    """The answer of a hook of the program; None without one."""
    hook = in_class(type(kinds), name)
    if not isinstance(kinds, type) or type(hook) is not FunctionType:
        return None
    if is_of_torch(hook) or is_of_python(module_of(hook)):
        return None
    capture.depends_on_class(type(kinds), name)
    return capture.truth(capture.call(hook, (kinds, value), {}))
