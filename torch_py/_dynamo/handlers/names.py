"""Moves on the stack, and names: local variables, cells, globals, class bodies, methods and imports."""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, CellType, MethodDescriptorType
from typing import Any

from torch_py._dynamo import attributes
from torch_py._dynamo.exc import Break
from torch_py._dynamo.frame import NULL, UNBOUND, Frame, Pending
from torch_py._dynamo.handlers import push
from torch_py._dynamo.journal import ABSENT
from torch_py._tensor import Tensor


def nop(frame: Frame, arg: Any) -> None:
    pass


resume = precall = kw_names = copy_free_vars = nop


def pop_top(frame: Frame, arg: Any) -> None:
    frame.stack.pop()


gen_start = pop_top


push_null = push(lambda frame, _: NULL)
copy = push(lambda frame, depth: frame.stack[-depth])


def swap(frame: Frame, depth: int) -> None:
    stack = frame.stack
    stack[-1], stack[-depth] = stack[-depth], stack[-1]


def rotate(frame: Frame, depth: int) -> None:
    """Moves the top below `depth` - 1 others."""
    frame.stack.insert(-depth, frame.stack[-1])
    frame.stack.pop()


rot_n = rotate


def dup_top_two(frame: Frame, arg: Any) -> None:
    frame.stack += frame.stack[-2:]


def load_const(frame: Frame, value: Any) -> None:
    frame.stack.append(value)


def load_fast(frame: Frame, slot: int) -> None:
    value = frame.locals[slot]
    if type(value) is Pending:
        value = frame.slot(slot)
    elif value is UNBOUND:
        raise frame.unbound(slot)
    frame.stack.append(value)


load_fast_check = load_fast


def load_fast_and_clear(frame: Frame, slot: int) -> None:
    value = frame.slot(slot)
    frame.stack.append(NULL if value is UNBOUND else value)
    frame.locals[slot] = UNBOUND


def load_fast_load_fast(frame: Frame, slots: tuple[int, int]) -> None:
    load_fast(frame, slots[0])
    load_fast(frame, slots[1])


def store_fast(frame: Frame, slot: int) -> None:
    value = frame.stack.pop()
    frame.locals[slot] = UNBOUND if value is NULL else value


def store_fast_store_fast(frame: Frame, slots: tuple[int, int]) -> None:
    store_fast(frame, slots[0])
    store_fast(frame, slots[1])


def store_fast_load_fast(frame: Frame, slots: tuple[int, int]) -> None:
    store_fast(frame, slots[0])
    load_fast(frame, slots[1])


def delete_fast(frame: Frame, slot: int) -> None:
    if frame.locals[slot] is UNBOUND:
        raise frame.unbound(slot)
    frame.locals[slot] = UNBOUND


def make_cell(frame: Frame, slot: int) -> None:
    value = frame.slot(slot)
    cell = CellType() if value is UNBOUND else CellType(value)
    frame.locals[slot] = frame.capture.made(cell)


def make_cell_of(frame: Frame, arg: tuple[int, int | None]) -> None:
    """Makes a cell in a slot of its own, with the value of a parameter (Python 3.10)."""
    slot, parameter = arg
    if parameter is not None:
        frame.locals[slot] = frame.locals[parameter]
        frame.locals[parameter] = UNBOUND
    make_cell(frame, slot)


def unsupported(frame: Frame, arg: Any) -> None:
    raise Break(f"the instruction {frame.instruction.opname}", "the compiler does not know it", "")


_NATIVE_METHODS = (BuiltinFunctionType, attributes.TensorMethod)
_IS_NULL_LAST = sys.version_info >= (3, 13)

# Cells


def _content(frame: Frame, slot: int) -> Any:
    value = frame.capture.read_cell(frame.slot(slot), frame.program.names[slot])
    if value is ABSENT:
        raise frame.unbound(slot)
    return value


def _content_in_class(frame: Frame, slot: int) -> Any:
    name = frame.program.names[slot]
    return frame.names[name] if name in frame.names else _content(frame, slot)


load_closure = push(Frame.slot)  # the cell itself
load_deref = push(_content)
load_classderef = push(_content_in_class)


def load_from_dict_or_deref(frame: Frame, slot: int) -> None:
    frame.stack[-1] = _content_in_class(frame, slot)


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
    if name not in frame.globals and frame.capture.read_key(frame.globals, name) is ABSENT:
        raise NameError(f"name '{name}' is not defined")
    frame.capture.write_key(frame.globals, name, ABSENT)


def _name(frame: Frame, name: str) -> Any:
    return frame.names[name] if name in frame.names else _global(frame, name)


load_name = push(_name)


def load_from_dict_or_globals(frame: Frame, name: str) -> None:
    frame.stack[-1] = _name(frame, name)


def store_name(frame: Frame, name: str) -> None:
    frame.names[name] = frame.stack.pop()


def delete_name(frame: Frame, name: str) -> None:
    if name not in frame.names:
        raise NameError(f"name '{name}' is not defined")
    del frame.names[name]


load_locals = push(lambda frame, _: frame.names)


def setup_annotations(frame: Frame, arg: Any) -> None:
    frame.names.setdefault("__annotations__", frame.capture.made({}))


# Methods


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
