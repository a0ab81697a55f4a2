"""How compiled code makes objects of each kind: containers, functions, and instances of classes."""

from __future__ import annotations

import collections
import functools
import gc
import operator
import re
import types
import warnings
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.attributes import HEAP_TYPE, TensorMethod, filled_slots
from torch_py._dynamo.exc import Break
from torch_py._dynamo.handlers.control import InterpretedGenerator
from torch_py._dynamo.journal import ABSENT, Marker, contents, copy_of
from torch_py._dynamo.natives import Interpreted
from torch_py._dynamo.origins import FIXED_KINDS, SCALARS
from torch_py._dynamo.parts import VIEWS
from torch_py._shapes.numbers import SymSize
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.assemble import Rebuild

# A flag of classes.
_DISALLOWS_INSTANTIATION = 1 << 7
# Built-in classes whose derived classes have objects that can be made again.
_REBUILT_BASES: tuple[Any, ...] = (collections.OrderedDict, dict, list, set, tuple, str, int, float, object)
# Iterators that tell, by __reduce__, how to make them again.
_ITERATOR_MODULES = ("builtins", "itertools", "_collections", "collections")


def cannot_rebuild(value: Any, why: str = "compiled code cannot make it again") -> Break:
    hint = "keep it inside of the compiled function, or make it outside"
    reason = Break(f"a {type(value).__name__} that outlives the graph", why, hint)
    if isinstance(value, InterpretedGenerator):
        reason.made_at = value.made_at
    return reason


# Containers


def _items(rebuild: Rebuild, values: Any) -> str:
    return ", ".join([rebuild.value(item) for item in values])


def _tuple(rebuild: Rebuild, value: tuple[Any, ...]) -> str:
    items = _items(rebuild, value)
    return f"({items},)" if len(value) == 1 else f"({items})"


def _native_tuple(rebuild: Rebuild, value: Any) -> str:
    return f"{rebuild.value(rebuild.capture.class_of(value))}({_tuple(rebuild, value)})"


def _set(rebuild: Rebuild, value: Any) -> str:
    return rebuild.finish(value, f"{type(value).__name__}([{_items(rebuild, value)}])", "update", "items")


def entries(rebuild: Rebuild, value: dict[Any, Any]) -> str:
    """The text of a dictionary."""
    pairs = [f"{rebuild.value(key)}: {rebuild.value(item)}" for key, item in value.items()]
    return "{" + ", ".join(pairs) + "}"


def _by_class(rebuild: Rebuild, value: Any, arguments: str, wish: str) -> str:
    """A call of the object's class."""
    return rebuild.declare(value, f"{rebuild.value(type(value))}({arguments})", wish)


def _mapping(rebuild: Rebuild, value: Any) -> str:
    is_default = isinstance(value, collections.defaultdict)
    factory = f"{rebuild.value(value.default_factory)}, " if is_default else ""
    return _by_class(rebuild, value, factory + entries(rebuild, value), "entries")


def _view(rebuild: Rebuild, value: Any) -> str:
    """The keys, values or items of a dictionary."""
    (owner,) = gc.get_referents(value)
    kind, _, name = type(value).__name__.rpartition("_")
    method = getattr(dict if kind == "dict" else collections.OrderedDict, name)
    return rebuild.declare(value, f"{rebuild.constant(method, name)}({rebuild.value(owner)})", name)


def _with_fields(*fields: str) -> Callable[[Rebuild, Any], str]:
    """Calls the object's class with some of its fields."""

    def make(rebuild: Rebuild, value: Any) -> str:
        return f"{rebuild.value(type(value))}({_items(rebuild, [getattr(value, field) for field in fields])})"

    return make


# Functions


def _function(rebuild: Rebuild, value: FunctionType) -> str:
    if not rebuild.capture.is_new(value):
        return rebuild.constant(value, value.__name__)
    made = rebuild.constant(FunctionType, "FunctionType")
    code = rebuild.constant(value.__code__, f"code_of_{value.__name__}")
    namespace = rebuild.constant(value.__globals__, "namespace")
    cells = _tuple(rebuild, value.__closure__) if value.__closure__ else "None"
    defaults = rebuild.value(value.__defaults__)

    text = f"{made}({code}, {namespace}, {value.__name__!r}, {defaults}, {cells})"
    name = rebuild.declare(value, text, value.__name__)
    for field in ("__kwdefaults__", "__annotations__", "__qualname__", "__module__", "__doc__"):
        content = getattr(value, field)
        if content and (field != "__doc__" or content != (value.__code__.co_consts or (None,))[0]):
            rebuild.builds.append(f"{name}.{field} = {rebuild.value(content)}")
    _fields(rebuild, value, name)
    return name


def _cell(rebuild: Rebuild, value: CellType) -> str:
    made = rebuild.constant(CellType, "CellType")
    name = rebuild.declare(value, f"{made}()", "cell")
    if (content := contents(value)) is not ABSENT:
        rebuild.builds.append(f"{name}.cell_contents = {rebuild.value(content)}")
    return name


def _native_method(rebuild: Rebuild, value: Any) -> str:
    owner = value.__self__
    if owner is None or isinstance(owner, (ModuleType, type)):
        return rebuild.constant(value, value.__name__)
    return f"{rebuild.value(owner)}.{value.__name__}"


def _partial(rebuild: Rebuild, value: Any) -> str:
    arguments = f"{_items(rebuild, (value.func, *value.args))}, **{entries(rebuild, value.keywords)}"
    return _by_class(rebuild, value, arguments, "partial")


# Objects of classes


def _instance(rebuild: Rebuild, value: Any) -> str:
    kind = type(value)
    cls = rebuild.value(kind)
    base = next(base for base in _REBUILT_BASES if isinstance(value, base))
    if base in (tuple, str, int, float):
        plain = _tuple(rebuild, value) if base is tuple else rebuild.value(base(value))
        made = f"{rebuild.constant(base.__new__, f'new_{base.__name__}')}({cls}, {plain})"
    else:
        made = f"{rebuild.constant(base, base.__name__)}.__new__({cls})"
    name = rebuild.declare(value, made, kind.__name__.lower())

    if base in (collections.OrderedDict, dict, list, set):
        contents_of_value = copy_of(set.__iter__(value) if base is set else value)
        rebuild.builds.append(rebuild.replacement(name, contents_of_value))

    _fields(rebuild, value, name)
    for slot, content in filled_slots(value).items():
        rebuild.builds.append(f"object.__setattr__({name}, {slot!r}, {rebuild.value(content)})")
    return name


def _fields(rebuild: Rebuild, value: Any, name: str) -> None:
    fields = getattr(value, "__dict__", None)
    if fields:
        # The dictionary itself may be used elsewhere.
        rebuild._made[id(fields)] = f"{name}.__dict__"
        rebuild.builds.append(f"{name}.__dict__.update({entries(rebuild, fields)})")


def _exception(rebuild: Rebuild, value: BaseException) -> str:
    kind = type(value)
    cls = rebuild.value(kind)
    name = rebuild.declare(value, f"{cls}.__new__({_items(rebuild, (kind, *value.args))})", "error")
    rebuild.builds.append(f"{name}.args = {rebuild.value(value.args)}")
    for field in ("__cause__", "__context__"):
        linked = getattr(value, field)
        if linked is not None and rebuild.capture.is_new(linked):
            rebuild.builds.append(f"{name}.{field} = {rebuild.value(linked)}")

    if value.__suppress_context__:
        rebuild.builds.append(f"{name}.__suppress_context__ = True")
    _fields(rebuild, value, name)
    return name


_OF_CONTAINERS = tuple(map(type, (iter({}), iter({}.values()), iter({}.items()), iter(set()))))


def _iterator(rebuild: Rebuild, value: Any) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # itertools loses it in Python 3.14
            reduced = value.__reduce__()
    except (TypeError, RuntimeError):  # a RuntimeError by sets that have been given back what they had
        raise cannot_rebuild(value) from None
    function, args, *state = reduced
    if type(value) in _OF_CONTAINERS:
        rebuild.capture.made(args[0])  # a list of what is left
    maker = rebuild.constant(function, getattr(function, "__name__", "make"))
    expression = f"{maker}({_items(rebuild, args)})"
    name = rebuild.declare(value, expression, "iterator")
    if state and state[0] is not None:
        # That of a list from its end must not be longer than the list is, which may yet be filled.
        rebuild.positions.append(f"{name}.__setstate__({rebuild.value(state[0])})")
    return name


def _as_constant(rebuild: Rebuild, value: Any) -> str:
    if isinstance(value, type) and rebuild.capture.is_new(value):
        raise cannot_rebuild(value)
    return rebuild.constant(value, getattr(value, "__name__", type(value).__name__).lower())


MAKERS: dict[type, Callable[[Rebuild, Any], str]] = {
    tuple: _tuple,
    list: lambda rebuild, value: rebuild.finish(value, f"[{_items(rebuild, value)}]", "extend", "items"),
    dict: lambda rebuild, value: rebuild.finish(value, entries(rebuild, value), "update", "entries"),
    **dict.fromkeys((set, frozenset), _set),
    **dict.fromkeys((collections.OrderedDict, collections.Counter, collections.defaultdict), _mapping),
    **dict.fromkeys(VIEWS, _view),
    collections.deque: lambda rebuild, value: _by_class(
        rebuild, value, f"[{_items(rebuild, value)}], {value.maxlen}", "items"
    ),
    slice: _with_fields("start", "stop", "step"),
    FunctionType: _function,
    CellType: _cell,
    MethodType: _with_fields("__func__", "__self__"),
    **dict.fromkeys((BuiltinFunctionType, types.MethodWrapperType, TensorMethod), _native_method),
    functools.partial: _partial,
    Interpreted: lambda rebuild, value: rebuild.value(value.function),
    super: _with_fields("__thisclass__", "__self__"),
    SymSize: _native_tuple,
    **dict.fromkeys((operator.itemgetter, operator.attrgetter, operator.methodcaller), _iterator),
}


# Objects of these classes never change.
_CONSTANT_KINDS = (
    *FIXED_KINDS, re.Pattern, types.GenericAlias, types.MethodDescriptorType, types.WrapperDescriptorType
)  # fmt: skip


def _is_iterator(value: Any, kind: type) -> bool:
    return hasattr(kind, "__next__") and kind.__module__ in _ITERATOR_MODULES and hasattr(kind, "__reduce__")


_NOT_REBUILT = (Tensor, type, InterpretedGenerator, Marker)


def _is_instance(value: Any, kind: type) -> bool:
    """Whether the class comes from a class statement, and no native code makes its objects."""
    if not kind.__flags__ & HEAP_TYPE or issubclass(kind, _NOT_REBUILT):
        return False
    return not any(_makes_natively(base) for base in kind.__mro__ if base not in _REBUILT_BASES)


def _makes_natively(kind: type) -> bool:
    is_closed = kind.__flags__ & _DISALLOWS_INSTANTIATION
    return bool(is_closed) or isinstance(kind.__dict__.get("__new__"), BuiltinFunctionType)


MAKERS_BY_TEST: tuple[tuple[Callable[[Any, type], bool], Callable[[Rebuild, Any], str]], ...] = (
    (lambda value, kind: isinstance(value, _CONSTANT_KINDS) or kind in SCALARS, _as_constant),
    (lambda value, kind: isinstance(value, BaseException), _exception),
    (_is_iterator, _iterator),
    (_is_instance, _instance),
    (lambda value, kind: isinstance(value, tuple), _native_tuple),
)
