"""Names: cells, globals, class bodies, attributes and imports."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, MethodDescriptorType
from typing import Any

from torch_py._dynamo import attributes
from torch_py._dynamo.breaks import Break
from torch_py._dynamo.frame import NULL, Frame
from torch_py._dynamo.journal import ABSENT
from torch_py._tensor import Tensor

_NATIVE_METHODS = (BuiltinFunctionType, attributes.TensorMethod)
_IS_NULL_LAST = sys.version_info >= (3, 13)

# Cells


def load_deref(frame: Frame, slot: int) -> None:
    value = frame.capture.read_cell(frame.slot(slot), frame.program.names[slot])
    if value is ABSENT:
        raise frame.unbound(slot)
    frame.stack.append(value)


def load_classderef(frame: Frame, slot: int) -> None:
    name = frame.program.names[slot]
    if name in frame.names:
        frame.stack.append(frame.names[name])
    else:
        load_deref(frame, slot)


def load_from_dict_or_deref(frame: Frame, slot: int) -> None:
    frame.stack.pop()
    load_classderef(frame, slot)


def store_deref(frame: Frame, slot: int) -> None:
    frame.capture.write_cell(frame.slot(slot), frame.stack[-1])
    frame.stack.pop()


def delete_deref(frame: Frame, slot: int) -> None:
    frame.capture.write_cell(frame.slot(slot), ABSENT)


# Globals and class bodies


def _global(frame: Frame, name: str) -> Any:
    capture = frame.capture
    for namespace in (frame.globals, frame.builtins):
        value = capture.read_key(namespace, name)
        if value is not ABSENT:
            return value
    raise NameError(f"name '{name}' is not defined")


def load_global(frame: Frame, arg: tuple[str, int]) -> None:
    name, with_null = arg
    value = _global(frame, name)
    frame.stack += _with_null(value) if with_null else (value,)


def _with_null(value: Any) -> tuple[Any, Any]:
    """A callable and NULL, as calls find them on the stack."""
    return (value, NULL) if _IS_NULL_LAST else (NULL, value)


def store_global(frame: Frame, name: str) -> None:
    frame.capture.write_key(frame.globals, name, frame.stack[-1])
    frame.stack.pop()


def delete_global(frame: Frame, name: str) -> None:
    if name not in frame.globals:
        raise NameError(f"name '{name}' is not defined")
    frame.capture.write_key(frame.globals, name, ABSENT)


def load_name(frame: Frame, name: str) -> None:
    if name in frame.names:
        frame.stack.append(frame.names[name])
    else:
        frame.stack.append(_global(frame, name))


def load_from_dict_or_globals(frame: Frame, name: str) -> None:
    frame.stack.pop()
    load_name(frame, name)


def store_name(frame: Frame, name: str) -> None:
    frame.names[name] = frame.stack.pop()


def delete_name(frame: Frame, name: str) -> None:
    if name not in frame.names:
        raise NameError(f"name '{name}' is not defined")
    del frame.names[name]


def load_locals(frame: Frame, arg: Any) -> None:
    frame.stack.append(frame.names)


def setup_annotations(frame: Frame, arg: Any) -> None:
    frame.names.setdefault("__annotations__", frame.capture.made({}))


# Attributes


def load_attr(frame: Frame, name: str) -> None:
    frame.stack[-1] = attributes.load(frame.capture, frame.stack[-1], name)


def load_method(frame: Frame, name: str) -> None:
    """Pushes a method of C and its object, as CPython does; NULL and the bound method for others, which are
    those of any object where a graph ends."""
    owner = frame.stack[-1]
    found = attributes.load(frame.capture, owner, name)
    method = attributes.in_class(frame.capture.class_of(owner), name)
    is_of_class = type(method) is MethodDescriptorType and type(found) in _NATIVE_METHODS
    if is_of_class and (found.__self__ is owner or isinstance(owner, Tensor)):
        frame.stack[-1:] = frame.capture.fixed(method, name), owner
    else:
        frame.stack[-1:] = _with_null(found)


def store_attr(frame: Frame, name: str) -> None:
    value, owner = frame.stack[-2:]
    attributes.store(frame.capture, owner, name, value)
    del frame.stack[-2:]


def delete_attr(frame: Frame, name: str) -> None:
    attributes.delete(frame.capture, frame.stack[-1], name)
    frame.stack.pop()


def load_super_attr(frame: Frame, arg: tuple[str, bool]) -> None:
    """``super().name``: the stack has `super` itself, the class and the object."""
    name, as_method = arg
    _, cls, owner = frame.stack[-3:]
    value = attributes.load(frame.capture, super(cls, owner), name)
    frame.stack[-3:] = _with_null(value) if as_method else (value,)


# Imports


def import_name(frame: Frame, name: str) -> None:
    level, names = frame.stack[-2:]
    if not level and name not in sys.modules:
        raise Break(f"import of {name}", "the module is not loaded yet", "import it before the call")
    module = __import__(name, frame.globals, None, names, level)
    for loaded in {name, module.__name__} & sys.modules.keys() if not level else {module.__name__}:
        place = frame.capture.sources.call(f"sys.modules[{loaded!r}]", sys.modules.get, loaded)
        frame.capture.guards.add("is", place, sys.modules.get(loaded))
    frame.stack[-2:] = [frame.capture.fixed(module, name)]


def import_from(frame: Frame, name: str) -> None:
    module = frame.stack[-1]
    try:
        value = attributes.load(frame.capture, module, name)
    except AttributeError:
        raise ImportError(f"cannot import name {name!r} from {module.__name__!r}") from None
    frame.stack.append(value)
