"""Native callables: which run as they are while a program is captured, which the interpreter does itself, and
which end the graph."""

from __future__ import annotations

import collections
import copyreg
import functools
import string
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch_py import _C
from torch_py._dynamo import attributes, operations, torch_calls
from torch_py._dynamo.exc import data_dependent, unsupported_call
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.native_rules import BREAKING_BUILTINS, BREAKING_MODULES, PURE_CLASSES, PURE_MODULES
from torch_py._dynamo.varying_arguments import call_with_numbers, has_tensors
from torch_py._records import Fields
from torch_py._shapes.numbers import VARYING
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture

# Functions of Python for native code


class Interpreted(Fields):
    """A function of the program as native code calls it: it is interpreted. `is_read`: native code looks into
    its results, to compare them or for their truth."""

    capture: Capture
    function: Any
    is_read: bool

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.capture.acts()
        args = tuple(self.capture.plain(value) for value in args)
        result = self.capture.call(self.function, args, kwargs)
        if self.is_read:
            self.capture.use_fields(result)
        return result


_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.MethodWrapperType)
_SORT_KEY = type(functools.cmp_to_key(max))  # calls a function that is interpreted already


def callable_for_native(capture: Capture, value: Any) -> Any:
    """`value`, or a callable that interprets it."""
    return Interpreted(capture, value, is_read=True) if type(value) in _FUNCTIONS else value


def called_natively(capture: Capture, value: Any, is_read: bool = True) -> Any:
    """Like `callable_for_native`, for what native code is sure to call: perhaps a class, or an object with a
    __call__. So it does, and may do, what it does where the program calls it."""
    is_interpreted = callable(value) and type(value) not in (Interpreted, _SORT_KEY)
    return Interpreted(capture, value, is_read) if is_interpreted else value


# Builtin functions


def call_builtin(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of C, or a method of an object of a built-in type."""
    owner = capture.owner_of(callee)
    if owner is None or isinstance(owner, types.ModuleType):
        return _call_in_module(capture, callee, args, kwargs)
    if isinstance(owner, type):
        return _call_of_class(capture, callee, owner, args, kwargs)
    return call_method_of(capture, owner, callee, args, kwargs)


def _call_in_module(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if torch_calls.is_torch_builtin(callee):
        return torch_calls.builtin(capture, callee, args, kwargs)
    module = callee.__module__ or getattr(callee.__self__, "__name__", "")
    name = callee.__name__
    if module == "builtins" and name in BREAKING_BUILTINS:
        raise unsupported_call(name, BREAKING_BUILTINS[name])
    if module not in PURE_MODULES and not (module == "_pickle" and _is_plain_data([*args, kwargs])):
        raise unsupported_call(f"{module}.{name}", BREAKING_MODULES.get(module, "it is a function of C"))
    if name.startswith(_CHANGING_FUNCTIONS):
        capture.change(args[0] if args else kwargs.get("a"))
    return run_natively(capture, callee, args, kwargs)


# Names of functions that change their first argument.
_CHANGING_FUNCTIONS = ("heap", "_heap", "insort", "_count_elements", "iconcat")


def _is_plain_data(value: Any) -> bool:
    """Whether a value is made of numbers, texts and containers, which do nothing when they are pickled."""
    if type(value) in (list, tuple, set, frozenset):
        return all(map(_is_plain_data, value))
    if type(value) is dict:
        return all(map(_is_plain_data, value)) and all(map(_is_plain_data, value.values()))
    return type(value) in (int, float, bool, complex, str, bytes, type(None))


def run_natively(capture: Capture, callee: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls a pure function with the objects of the program."""
    for value in (*args, *kwargs.values()):
        capture.use(value)
        operations.refuse_foreign(capture, value)
    if not _only_stores(callee):
        owner = getattr(callee, "__self__", None)
        capture.use_fields(owner, *args, *kwargs.values())
        if not isinstance(owner, _SAFE_OWNERS) or callee.__name__ == "sort":  # others call none
            args = [callable_for_native(capture, value) for value in args]
            kwargs = {name: called_natively(capture, value) for name, value in kwargs.items()}
    capture.acts()
    return capture.result(call_with_numbers(capture.varying, callee, args, kwargs))


# Methods of containers, and modules of functions, that do not look into the objects they are given.
_STORING = frozenset(
    "append appendleft extend extendleft insert pop popleft clear reverse rotate copy update setdefault "
    "__setitem__ __getitem__ __delitem__ __iadd__ __len__ __iter__ keys values items __init__".split()
)
_INDIFFERENT = ("_abc", "_weakref", "_contextvars", "_typing")


def _only_stores(callee: Any) -> bool:
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, (list, tuple, dict, set, collections.deque, types.SimpleNamespace)):
        adds_keys = callee.__name__ == "update" and isinstance(owner, (dict, set))
        return callee.__name__ in _STORING and not adds_keys
    return getattr(callee, "__module__", "") in _INDIFFERENT


def _call_of_class(capture: Capture, callee: Any, owner: type, args: Any, kwargs: Any) -> Any:
    """A class method."""
    if callee.__name__ == "__init_subclass__":
        return None
    if owner not in PURE_CLASSES and not torch_calls.is_torch_builtin(callee):
        if owner.__module__ != "builtins" and "fromkeys" != callee.__name__:
            raise unsupported_call(f"{owner.__name__}.{callee.__name__}")
    return run_natively(capture, callee, args, kwargs)


# Methods of built-in types

_CHANGING = frozenset(
    "append appendleft extend extendleft insert remove pop popleft popitem clear sort rotate reverse add "
    "discard setdefault update move_to_end intersection_update difference_update symmetric_difference_update "
    "__setitem__ __delitem__ __init__ __iadd__ __imul__ __ior__ __iand__ __isub__ __ixor__ "
    "add_note with_traceback __setstate__".split()
)
_CONTAINERS = (list, dict, set, collections.deque, bytearray)
_SAFE_OWNERS = (
    *_CONTAINERS, str, bytes, int, float, complex, bool, tuple, frozenset, range, slice, type(None),
    BaseException, types.MappingProxyType, type({}.keys()), type({}.values()), type({}.items()),
    _C.dtype, _C.device, _C.finfo, _C.iinfo,
)  # fmt: skip


_SAFE_MODULES = "re _sre itertools functools _operator operator types _struct".split()


def call_method_of(capture: Capture, owner: Any, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A bound method of an object of a built-in type."""
    name = callee.__name__
    if name == "__reduce_ex__" and attributes.in_class(type(owner), name) is object.__reduce_ex__:
        return _reduced(capture, owner, *args)
    kind = type(owner)
    special = _SPECIAL_METHODS.get(name)
    if special is not None and isinstance(owner, dict):
        found = special(capture, owner, *args, **kwargs)
        if found is not NotImplemented:
            return found
    if operations.is_native_iterator(owner):
        operations.refuse_foreign(capture, owner)
        capture.acts()
        return capture.result(callee(*args, **kwargs))
    if isinstance(owner, str) and name in ("format", "join", "format_map"):
        return _text_method(capture, owner, callee, args, kwargs)
    if not isinstance(owner, _SAFE_OWNERS) and kind.__module__ not in _SAFE_MODULES:
        raise unsupported_call(f"{kind.__name__}.{name}")

    has_changes = isinstance(owner, _CONTAINERS) or capture.origin_of(owner) is not None
    if isinstance(owner, list) and name in ("append", "extend", "__iadd__"):
        capture.grow(owner)
    elif name in _CHANGING and has_changes:
        capture.change(owner)
    else:
        capture.use(owner)
    return run_natively(capture, callee, args, kwargs)


def _text_method(capture: Capture, owner: str, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if callee.__name__ == "join":
        return owner.join(map(capture.as_number, capture.elements_of(args[0])))
    if has_tensors(list(args)) or has_tensors(kwargs):
        raise data_dependent("the text of a tensor")
    fields = list(string.Formatter().parse(owner))
    fields += [inner for *_, format_, _ in fields for inner in string.Formatter().parse(format_ or "")]
    if any("." in name or "[" in name for _, name, *_ in fields if name):
        raise unsupported_call(f"str.{callee.__name__}", "it reads attributes or elements", "use an f-string")
    args = [_as_text(capture, value) for value in args]
    kwargs = {name: _as_text(capture, value) for name, value in kwargs.items()}
    return run_natively(capture, callee, args, kwargs)


def _as_text(capture: Capture, value: Any) -> Any:
    """Objects of classes of the program with a text of their own, as that text."""
    text = attributes.call_own(capture, value, "__str__")
    return value if text is ABSENT else text


def _dict_get(capture: Capture, owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    hash(key)
    value = capture.read_key(owner, key)
    return default if value is ABSENT else value


def _dict_pop(capture: Capture, owner: dict[Any, Any], key: Any, *default: Any) -> Any:
    value = capture.read_key(owner, key)
    if value is ABSENT:
        return dict.pop(owner, key, *default)  # the default, or KeyError
    capture.write_key(owner, key, ABSENT)
    return value


def _dict_setdefault(capture: Capture, owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if capture.read_key(owner, key) is ABSENT:
        capture.write_key(owner, key, default)
    return capture.read_key(owner, key)


def _dict_update(capture: Capture, owner: dict[Any, Any], *given: Any, **named: Any) -> Any:
    if not all(isinstance(other, dict) for other in given):
        return NotImplemented
    for entries in (*map(capture.items_of, given), named):
        for key, value in entries.items():
            capture.write_key(owner, key, value)
    return None


_SPECIAL_METHODS: dict[str, Callable[..., Any]] = {
    "get": _dict_get,
    "pop": _dict_pop,
    "setdefault": _dict_setdefault,
    "__setitem__": lambda capture, owner, key, value: capture.write_key(owner, key, value),
    "__getitem__": operations.entry,
    "update": _dict_update,
}


def call_descriptor(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A method of a built-in type that is not bound: ``list.append``, ``object.__setattr__``."""
    name = callee.__name__
    if not args:
        raise TypeError(f"unbound method {name}() needs an argument")
    owner, rest = args[0], list(args[1:])
    if isinstance(owner, Tensor) and issubclass(Tensor, callee.__objclass__):
        return torch_calls.method(capture, owner, name, rest, kwargs)
    special = _OF_OBJECT.get(name) if callee.__objclass__ in (object, type) else None
    if special is not None:
        return special(capture, owner, *rest, **kwargs)
    if callee.__objclass__ is type or isinstance(owner, type):
        return run_natively(capture, callee, args, kwargs)
    if type(owner) in VARYING:
        owner = capture.as_number(owner)
    return call_method_of(capture, owner, callee.__get__(owner, type(owner)), rest, kwargs)


def call_wrapper(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A bound special method: ``[].__len__``."""
    if callee.__name__ == "__get__":
        return capture.result(callee(*args, **kwargs))
    unbound = vars(callee.__objclass__)[callee.__name__]
    return call_descriptor(capture, unbound, [capture.owner_of(callee), *args], kwargs)


def _object_getattribute(capture: Capture, owner: Any, name: str) -> Any:
    value = attributes._of_instance(capture, owner, type(owner), name)
    if value is ABSENT:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    return value


def _reduced(capture: Capture, owner: Any, protocol: int = 0) -> Any:
    """``owner.__reduce_ex__(protocol)`` for objects that keep their state in a dictionary."""
    kind = type(owner)
    own = attributes.in_class(kind, "__reduce__")
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
    bases = [owner for owner in kind.__mro__ if not owner.__flags__ & attributes.HEAP_TYPE]
    return not has_slots and set(bases) <= {object, list, dict}


def _construction(capture: Capture, owner: Any, kind: type) -> tuple[Any, tuple[Any, ...]]:
    if not capture.is_new(kind):
        capture.fixed(kind, kind.__name__)
    has_keywords = attributes.in_class(kind, "__getnewargs_ex__") is not ABSENT
    name = "__getnewargs_ex__" if has_keywords else "__getnewargs__"
    maker: Any = copyreg.__newobj_ex__ if has_keywords else copyreg.__newobj__  # type: ignore[attr-defined]

    has_arguments = attributes.in_class(kind, name) is not ABSENT
    given = capture.call(attributes.load(capture, owner, name), (), {}) if has_arguments else ()
    return capture.fixed(maker, f"copyreg.{maker.__name__}"), capture.made((kind, *given))


def _state_of(capture: Capture, owner: Any, kind: type) -> Any:
    """What `__getstate__` gives: by default the dictionary itself, or None if it is empty."""
    getter = attributes.in_class(kind, "__getstate__")
    if getter is not ABSENT and getter is not getattr(object, "__getstate__", None):
        return capture.call(attributes.load(capture, owner, "__getstate__"), (), {})
    if attributes.fields_of(owner) is None:
        return None
    fields = attributes.load(capture, owner, "__dict__")
    if len(fields) == 0:
        capture.use_length(fields)
        return None
    return fields


_OF_OBJECT: dict[str, Callable[..., Any]] = {
    "__init__": lambda capture, owner, *args, **kwargs: None,
    "__setattr__": attributes.store_plain,
    "__delattr__": attributes.store_plain,
    "__getattribute__": _object_getattribute,
    "__repr__": lambda capture, owner: object.__repr__(owner),
    "__eq__": lambda capture, left, right: True if left is right else NotImplemented,
    "__ne__": lambda capture, left, right: False if left is right else NotImplemented,
    "__hash__": lambda capture, owner: object.__hash__(owner),
    "__reduce_ex__": _reduced,
}


def call_getter(capture: Capture, callee: Any, args: Any) -> Any:
    """itemgetter, attrgetter and methodcaller."""
    name, parts = type(callee).__name__, callee.__reduce__()[1]
    if name == "methodcaller":
        return capture.call(attributes.load(capture, args[0], parts[0]), parts[1:], {})
    if name == "itemgetter":
        found = [operations.subscript(capture, args[0], key) for key in parts]
    else:
        load = functools.partial(attributes.load, capture)
        found = [functools.reduce(load, path.split("."), args[0]) for path in parts]
    return found[0] if len(found) == 1 else tuple(found)
