"""Native callables: which run as they are while a program is captured, which the interpreter does itself, and
which end the graph."""

from __future__ import annotations

import _thread
import builtins
import collections
import functools
import itertools
import sys
import types
import weakref
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from torch_py import compiler
from torch_py._dynamo import attributes, formatting, iteration, marks, operations, torch_calls
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.breaks import Break, data_dependent, unsupported_call
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.recorder import has_tensors
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture

# Classes whose objects native code makes, and that do nothing else.
PURE_CLASSES: frozenset[type] = frozenset(
    {
        int,
        float,
        bool,
        complex,
        str,
        bytes,
        bytearray,
        list,
        tuple,
        dict,
        set,
        frozenset,
        range,
        slice,
        enumerate,
        zip,
        map,
        filter,
        reversed,
        object,
        property,
        classmethod,
        staticmethod,
        super,
        type,
        functools.partial,
        collections.OrderedDict,
        collections.defaultdict,
        collections.deque,
        types.SimpleNamespace,
        types.MethodType,
        types.MappingProxyType,
        itertools.chain,
        itertools.count,
        itertools.islice,
        itertools.repeat,
        itertools.cycle,
        itertools.product,
        itertools.permutations,
        itertools.combinations,
        itertools.accumulate,
        itertools.starmap,
        itertools.takewhile,
        itertools.dropwhile,
        itertools.filterfalse,
        itertools.zip_longest,
        itertools.groupby,
        itertools.compress,
        itertools.pairwise,
        weakref.ref,
        types.GenericAlias,
        operations.operator.itemgetter,
        operations.operator.attrgetter,
        operations.operator.methodcaller,
    }
)

# Modules whose functions depend on their arguments only.
_PURE_MODULES = frozenset(
    "builtins math cmath _operator operator itertools _functools _collections _bisect _heapq _struct _string "
    "_abc _stat _sre _json _typing _weakref _contextvars".split()
)
# Functions of `builtins` that act outside, or need the frame that calls them.
_BREAKING_BUILTINS = {
    "print": "it writes to a file",
    "input": "it reads from a file",
    "open": "it opens a file",
    "exec": "it runs code that is not known before",
    "eval": "it runs code that is not known before",
    "compile": "it compiles code",
    "breakpoint": "it starts a debugger",
    "locals": "it shows the variables of a frame",
    "dir": "it lists attributes",
    "__import__": "it imports a module",
}
# Modules of the library of Python whose functions act outside, or give other answers each time.
_BREAKING_MODULES = {
    "time": "the answer is another one each time",
    "random": "random numbers of Python are not captured",
    "logging": "it writes a log",
    "warnings": "it may print a warning",
    "os": "it asks the operating system",
    "posix": "it asks the operating system",
    "io": "it reads or writes a file",
    "_io": "it reads or writes a file",
    "threading": "threads are not captured",
    "subprocess": "it starts a program",
    "socket": "it uses the network",
    "pdb": "it starts a debugger",
    "inspect": "it looks at frames or source",
    "traceback": "it looks at frames",
    "gc": "it looks at all objects",
    "pickle": "it writes objects as bytes",
}


def _graph_break(capture: Capture, args: Any, kwargs: Any) -> None:
    text = args[0] if args else kwargs.get("msg", "")
    raise Break("torch._dynamo.graph_break()", text or "the program asks for it")


def _true(capture: Capture, args: Any, kwargs: Any) -> bool:
    return True


def reason_against_module(function: FunctionType) -> Break | None:
    """Why functions of a module are not interpreted."""
    module = function.__module__ or ""
    top = module.partition(".")[0]
    why = _BREAKING_MODULES.get(top)
    if why is not None and not function.__qualname__.startswith("catch_warnings"):
        return unsupported_call(f"{module}.{function.__qualname__}", why)
    if module.startswith("torch_py."):
        return _reason_in_torch(module, function)
    return None


def _reason_in_torch(module: str, function: FunctionType) -> Break | None:
    """Most of torch's Python code is interpreted. Not what acts on tensors or files outside of the graph."""
    for prefix, why in _UNCAPTURED_TORCH.items():
        if module.startswith(prefix):
            return unsupported_call(f"{module.replace('torch_py', 'torch', 1)}.{function.__qualname__}", why)
    return None


_UNCAPTURED_TORCH = {
    "torch_py.random": "it changes the state of random numbers",
    "torch_py._dynamo": "it belongs to the compiler",
    "torch_py.compiler": "it belongs to the compiler",
    "torch_py.autograd.engine": "it runs the engine of autograd",
    "torch_py.autograd.gradient": "it runs the engine of autograd",
    "torch_py._functorch": "transforms of functions are not captured yet",
    "torch_py.fx": "it traces programs itself",
    "torch_py.export": "it traces programs itself",
    "torch_py.serialization": "it reads or writes a file",
    "torch_py.profiler": "it measures",
    "torch_py.utils.data": "it loads data",
    "torch_py.multiprocessing": "processes are not captured",
    "torch_py.distributed": "communication is not captured",
    "torch_py._tensor_str": "it needs the values of tensors",
}


# Functions of Python for native code


class Interpreted:
    """A function of the program as native code calls it: it is interpreted."""

    def __init__(self, capture: Capture, function: Any) -> None:
        self.capture = capture
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = tuple(self.capture.plain(value) for value in args)
        return self.capture.call(self.function, args, kwargs)


def callable_for_native(capture: Capture, value: Any) -> Any:
    """`value`, or a callable that interprets it."""
    kind = type(value)
    if kind is FunctionType or kind is MethodType:
        return Interpreted(capture, value)
    return value


# Builtin functions


def call_builtin(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of C, or a method of an object of a built-in type."""
    special = SPECIAL_FUNCTIONS.get(callee) if _is_hashable(callee) else None
    if special is not None:
        return special(capture, args, kwargs)
    owner = callee.__self__
    if owner is None or isinstance(owner, types.ModuleType):
        return _call_in_module(capture, callee, args, kwargs)
    if isinstance(owner, type):
        return _call_of_class(capture, callee, owner, args, kwargs)
    return call_method_of(capture, owner, callee, args, kwargs)


def _is_hashable(callee: Any) -> bool:
    return callee.__self__ is None or isinstance(callee.__self__, (types.ModuleType, type))


def _call_in_module(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if torch_calls.is_torch_builtin(callee):
        return torch_calls.builtin(capture, callee, args, kwargs)
    module = callee.__module__ or getattr(callee.__self__, "__name__", "")
    name = callee.__name__
    if module == "builtins" and name in _BREAKING_BUILTINS:
        raise unsupported_call(name, _BREAKING_BUILTINS[name])
    if module not in _PURE_MODULES:
        raise unsupported_call(f"{module}.{name}", _BREAKING_MODULES.get(module, "it is a function of C"))
    return run_natively(capture, callee, args, kwargs)


def run_natively(capture: Capture, callee: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls a pure function with the objects of the program."""
    for value in (*args, *kwargs.values()):
        capture.use(value)
        if iteration.is_native_iterator(value) and capture.origin_of(value) is not None:
            raise iteration.ForeignIterator(value)
    args = [callable_for_native(capture, value) for value in args]
    kwargs = {name: callable_for_native(capture, value) for name, value in kwargs.items()}
    return capture.result(callee(*args, **kwargs))


def _call_of_class(capture: Capture, callee: Any, owner: type, args: Any, kwargs: Any) -> Any:
    """A class method, or the __new__ of a built-in type."""
    if callee.__name__ == "__new__" and args and isinstance(args[0], type):
        if owner is object:
            return capture.made(object.__new__(args[0]))
        if owner is type:
            return capture.made(callee(*args, **kwargs))
        if owner not in PURE_CLASSES and not issubclass(owner, BaseException):
            raise unsupported_call(f"{owner.__name__}.__new__")
    elif callee.__name__ == "__init_subclass__":
        return None
    elif owner not in PURE_CLASSES and not torch_calls.is_torch_builtin(callee):
        if owner.__module__ != "builtins" and "fromkeys" != callee.__name__:
            raise unsupported_call(f"{owner.__name__}.{callee.__name__}")
    return run_natively(capture, callee, args, kwargs)


# Methods of built-in types

_CHANGING = {
    list: frozenset(
        "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__ "
        "__init__".split()
    ),
    dict: frozenset(
        "clear pop popitem setdefault update move_to_end __setitem__ __delitem__ __ior__ __init__".split()
    ),
    set: frozenset(
        "add remove discard pop clear update intersection_update difference_update "
        "symmetric_difference_update __ior__ __iand__ __isub__ __ixor__ __init__".split()
    ),
    collections.deque: frozenset(
        "append appendleft extend extendleft insert remove pop popleft clear rotate reverse __setitem__ "
        "__delitem__ __iadd__ __imul__ __init__".split()
    ),
    bytearray: frozenset("append extend insert remove pop clear reverse __setitem__ __delitem__".split()),
}
_SAFE_OWNERS = (
    str,
    bytes,
    int,
    float,
    complex,
    bool,
    tuple,
    list,
    dict,
    set,
    frozenset,
    collections.deque,
    bytearray,
    range,
    slice,
    type(None),
    BaseException,
    types.MappingProxyType,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)


def call_method_of(capture: Capture, owner: Any, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A bound method of an object of a built-in type."""
    name = callee.__name__
    kind = type(owner)
    special = _SPECIAL_METHODS.get(name)
    if special is not None and isinstance(owner, dict):
        found = special(capture, owner, *args, **kwargs)
        if found is not NotImplemented:
            return found
    if iteration.is_native_iterator(owner):
        return _call_iterator(capture, owner, callee, args, kwargs)
    if isinstance(owner, str) and name in ("format", "join", "format_map"):
        return _text_method(capture, owner, callee, args, kwargs)
    if not isinstance(owner, _SAFE_OWNERS) and not _is_known_owner(owner):
        raise unsupported_call(f"{kind.__name__}.{name}")

    changed = next((names for base, names in _CHANGING.items() if isinstance(owner, base)), frozenset())
    if name in changed:
        capture.change(owner)
    else:
        capture.use(owner)
    return run_natively(capture, callee, args, kwargs)


def _is_known_owner(owner: Any) -> bool:
    module = type(owner).__module__
    if module == "torch_py" or module.startswith("torch_py."):
        return not isinstance(owner, Tensor) and type(owner).__name__ in (
            "Size",
            "dtype",
            "device",
            "finfo",
            "iinfo",
        )
    return module in ("re", "_sre", "itertools", "functools", "_operator", "operator", "types", "_struct")


def _text_method(capture: Capture, owner: str, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if callee.__name__ == "join":
        return owner.join(capture.elements_of(args[0]))
    if has_tensors(list(args)) or has_tensors(kwargs):
        raise data_dependent("the text of a tensor")
    args = [_as_text(capture, value) for value in args]
    kwargs = {name: _as_text(capture, value) for name, value in kwargs.items()}
    return run_natively(capture, callee, args, kwargs)


def _as_text(capture: Capture, value: Any) -> Any:
    """Objects of classes of the program with a text of their own, as that text."""
    method = in_class(type(value), "__str__")
    return formatting.text_of(capture, str, value) if type(method) is FunctionType else value


def _call_iterator(capture: Capture, owner: Any, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    if capture.origin_of(owner) is not None:
        raise iteration.ForeignIterator(owner)
    return capture.result(callee(*args, **kwargs))


def _dict_get(capture: Capture, owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    if type(in_class(type(owner), "get")) is FunctionType:
        return NotImplemented
    hash(key)
    value = capture.read_key(owner, key)
    return default if value is ABSENT else value


def _dict_pop(capture: Capture, owner: dict[Any, Any], key: Any, *default: Any) -> Any:
    if capture.is_new(owner):
        return NotImplemented
    value = capture.read_key(owner, key)
    if value is ABSENT:
        if default:
            return default[0]
        raise KeyError(key)
    capture.write_key(owner, key, ABSENT)
    return value


def _dict_setdefault(capture: Capture, owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    value = capture.read_key(owner, key)
    if value is ABSENT:
        capture.write_key(owner, key, default)
        return default
    return value


def _dict_set(capture: Capture, owner: dict[Any, Any], key: Any, value: Any) -> None:
    capture.write_key(owner, key, value)


def _dict_item(capture: Capture, owner: dict[Any, Any], key: Any) -> Any:
    value = capture.read_key(owner, key)
    if value is ABSENT:
        return NotImplemented
    return value


def _dict_update(capture: Capture, owner: dict[Any, Any], *given: Any, **named: Any) -> Any:
    if capture.is_new(owner):
        return NotImplemented
    for other in given:
        if not isinstance(other, dict):
            return NotImplemented
        for key, value in capture.items_of(other).items():
            capture.write_key(owner, key, value)
    for name, value in named.items():
        capture.write_key(owner, name, value)
    return None


_SPECIAL_METHODS: dict[str, Callable[..., Any]] = {
    "get": _dict_get,
    "pop": _dict_pop,
    "setdefault": _dict_setdefault,
    "__setitem__": _dict_set,
    "__getitem__": _dict_item,
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
    return call_method_of(capture, owner, callee.__get__(owner, type(owner)), rest, kwargs)


def call_wrapper(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """A bound special method: ``[].__len__``."""
    owner, name = callee.__self__, callee.__name__
    special = _OF_OBJECT.get(name)
    if special is not None and callee.__objclass__ in (object, type):
        return special(capture, owner, *args, **kwargs)
    if isinstance(owner, Tensor):
        return torch_calls.method(capture, owner, name, args, kwargs)
    if name == "__get__":
        return capture.result(callee(*args, **kwargs))
    return call_method_of(capture, owner, callee, args, kwargs)


def _object_init(capture: Capture, owner: Any, *args: Any, **kwargs: Any) -> None:
    return None


def _object_getattribute(capture: Capture, owner: Any, name: str) -> Any:
    value = attributes._of_instance(capture, owner, type(owner), name)
    if value is ABSENT:
        raise AttributeError(f"{type(owner).__name__!r} object has no attribute {name!r}")
    return value


_OF_OBJECT: dict[str, Callable[..., Any]] = {
    "__init__": _object_init,
    "__setattr__": attributes.store_plain,
    "__delattr__": attributes.delete_plain,
    "__getattribute__": _object_getattribute,
    "__repr__": lambda capture, owner: object.__repr__(owner),
    "__eq__": lambda capture, left, right: True if left is right else NotImplemented,
    "__ne__": lambda capture, left, right: False if left is right else NotImplemented,
    "__hash__": lambda capture, owner: object.__hash__(owner),
    "__init_subclass__": lambda capture, *args, **kwargs: None,
}


def call_object(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """An object with a native __call__; NotImplemented if it is not known what it does."""
    if type(callee).__module__ in ("operator", "_operator"):
        return _call_getter(capture, callee, args)
    cached = getattr(callee, "__wrapped__", None)
    if isinstance(callee, functools._lru_cache_wrapper) and cached is not None:
        return capture.call(cached, args, kwargs)
    return NotImplemented


def _call_getter(capture: Capture, callee: Any, args: Any) -> Any:
    """itemgetter, attrgetter and methodcaller."""
    name, parts = type(callee).__name__, callee.__reduce__()[1]
    if name == "itemgetter":
        found = [operations.subscript(capture, args[0], key) for key in parts]
        return found[0] if len(found) == 1 else tuple(found)
    if name == "attrgetter":
        found = [
            functools.reduce(lambda o, n: attributes.load(capture, o, n), path.split("."), args[0])
            for path in parts
        ]
        return found[0] if len(found) == 1 else tuple(found)
    return capture.call(attributes.load(capture, args[0], parts[0]), parts[1:], {})


# Builtin functions that the interpreter does itself


def _isinstance(capture: Capture, args: Any, kwargs: Any) -> bool:
    value, kinds = args
    if isinstance(value, Tensor):
        actual = capture.class_of(value)
        return _is_subclass_of_tensor(value, actual, kinds)
    if isinstance(value, iteration_generator()):
        return isinstance(value, kinds) or kinds is types.GeneratorType
    return isinstance(value, kinds)


def iteration_generator() -> type:
    from torch_py._dynamo.generator import InterpretedGenerator

    return InterpretedGenerator


def _is_subclass_of_tensor(value: Tensor, actual: type, kinds: Any) -> bool:
    if isinstance(kinds, tuple):
        return any(_is_subclass_of_tensor(value, actual, kind) for kind in kinds)
    if isinstance(kinds, types.UnionType):
        return any(_is_subclass_of_tensor(value, actual, kind) for kind in kinds.__args__)
    return issubclass(actual, kinds) or (type(kinds) is not type and isinstance(value, kinds))


def _type(capture: Capture, args: Any, kwargs: Any) -> Any:
    if len(args) == 1:
        kind = capture.class_of(args[0])
        return kind if capture.is_new(kind) else capture.fixed(kind, kind.__name__)
    return capture.made(type(*args, **kwargs))


def _getattr(capture: Capture, args: Any, kwargs: Any) -> Any:
    if len(args) == 2:
        return attributes.load(capture, args[0], args[1])
    try:
        return attributes.load(capture, args[0], args[1])
    except AttributeError:
        return args[2]


def _hasattr(capture: Capture, args: Any, kwargs: Any) -> bool:
    try:
        attributes.load(capture, *args)
    except AttributeError:
        return False
    return True


def _setattr(capture: Capture, args: Any, kwargs: Any) -> None:
    attributes.store(capture, *args)


def _delattr(capture: Capture, args: Any, kwargs: Any) -> None:
    attributes.delete(capture, *args)


def _len(capture: Capture, args: Any, kwargs: Any) -> int:
    (value,) = args
    if isinstance(value, Tensor):
        return len(capture.recorder.fake_of(value))
    method = in_class(type(value), "__len__")
    if type(method) is FunctionType:
        capture.depends_on_class(type(value), "__len__")
        return capture.call(method, (value,), {})
    capture.use_length(value)
    return len(value)


def _iter(capture: Capture, args: Any, kwargs: Any) -> Any:
    if len(args) == 2:
        return capture.made(iter(callable_for_native(capture, args[0]), args[1]))
    return iteration.iterator_of(capture, args[0])


def _next(capture: Capture, args: Any, kwargs: Any) -> Any:
    if not hasattr(type(args[0]), "__next__"):
        raise TypeError(f"'{type(args[0]).__name__}' object is not an iterator")
    if isinstance(args[0], iteration_generator()) and len(args) == 1:
        return args[0].send(None)
    value = iteration.next_of(capture, args[0], iteration.END)
    if value is not iteration.END:
        return value
    if len(args) == 2:
        return args[1]
    raise StopIteration


def _text(function: Any) -> Callable[..., str]:
    def text(capture: Capture, args: Any, kwargs: Any) -> Any:
        if not args:
            return function()
        if function is str and len(args) > 1:
            return str(*args, **kwargs)
        return formatting.text_of(capture, function, *args)

    return text


def _number(function: Any) -> Callable[..., Any]:
    """int(), float() and complex()."""

    def number(capture: Capture, args: Any, kwargs: Any) -> Any:
        if args and isinstance(args[0], Tensor):
            return torch_calls.method(capture, args[0], f"__{function.__name__}__", (), {})
        if args:
            for name in (f"__{function.__name__}__", "__index__"):
                method = in_class(type(args[0]), name)
                if type(method) is FunctionType:
                    return function(capture.call(method, (args[0],), {}))
        return function(*args, **kwargs)

    return number


def _bool(capture: Capture, args: Any, kwargs: Any) -> bool:
    return capture.truth(args[0]) if args else False


def _list_of(kind: Any) -> Callable[..., Any]:
    """list(), tuple(), set() and frozenset()."""

    def make(capture: Capture, args: Any, kwargs: Any) -> Any:
        if not args:
            return capture.made(kind())
        return capture.made(kind(capture.elements_of(args[0])))

    return make


def _dict(capture: Capture, args: Any, kwargs: Any) -> Any:
    found: dict[Any, Any] = {}
    if args:
        given = args[0]
        if isinstance(given, dict) or hasattr(given, "keys"):
            found.update(capture.items_of(given))
        else:
            found.update(tuple(capture.elements_of(pair)) for pair in capture.elements_of(given))
    found.update(kwargs)
    return capture.made(found)


def _super(capture: Capture, args: Any, kwargs: Any) -> Any:
    if args:
        return super(*args)
    frame = capture.frame
    assert frame is not None
    names = frame.program.names
    cell = frame.locals[names.index("__class__")]
    owner = frame.locals[0]
    if type(owner) is types.CellType:
        owner = owner.cell_contents
    if hasattr(owner, "source") and type(owner).__name__ == "Pending":
        owner = capture.admit(owner.value, owner.source)
    return super(cell.cell_contents, owner)


def _globals(capture: Capture, args: Any, kwargs: Any) -> Any:
    frame = capture.frame
    assert frame is not None
    return capture.fixed(frame.globals, "G")


def _vars(capture: Capture, args: Any, kwargs: Any) -> Any:
    if not args:
        raise unsupported_call("vars", "it shows the variables of a frame")
    return attributes.load(capture, args[0], "__dict__")


def _extreme(function: Any, compare: Any) -> Callable[..., Any]:
    """max() and min()."""

    def extreme(capture: Capture, args: Any, kwargs: Any) -> Any:
        elements = capture.elements_of(args[0]) if len(args) == 1 else list(args)
        if has_tensors(elements):
            raise data_dependent(f"{function.__name__}() of tensors")
        kwargs = {name: callable_for_native(capture, value) for name, value in kwargs.items()}
        return function(elements, **kwargs)

    return extreme


def _sum(capture: Capture, args: Any, kwargs: Any) -> Any:
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    for element in capture.elements_of(args[0]):
        total = operations.binary(capture, operations.operator.add, total, element)
    return total


def _any_all(stop_at: bool) -> Callable[..., bool]:
    def answer(capture: Capture, args: Any, kwargs: Any) -> bool:
        iterator = iteration.iterator_of(capture, args[0])
        while (element := iteration.next_of(capture, iterator, iteration.END)) is not iteration.END:
            if capture.truth(element) is stop_at:
                return stop_at
        return not stop_at

    return answer


def _sorted(capture: Capture, args: Any, kwargs: Any) -> Any:
    elements = capture.elements_of(args[0])
    if "key" not in kwargs and has_tensors(elements):
        raise data_dependent("sorted() of tensors")
    kwargs = {name: callable_for_native(capture, value) for name, value in kwargs.items()}
    return capture.made(sorted(elements, **kwargs))


def _build_class(capture: Capture, args: Any, kwargs: Any) -> Any:
    from torch_py._dynamo.class_bodies import build_class

    return build_class(capture, args, kwargs)


def _reduce(capture: Capture, args: Any, kwargs: Any) -> Any:
    elements = capture.elements_of(args[1])
    total = args[2] if len(args) > 2 else elements.pop(0) if elements else None
    if total is None and len(args) < 3:
        raise TypeError("reduce() of empty iterable with no initial value")
    for element in elements:
        total = capture.call(args[0], (total, element), {})
    return total


def _operator(function: Any) -> Callable[..., Any]:
    def apply(capture: Capture, args: Any, kwargs: Any) -> Any:
        if len(args) == 1:
            return operations.unary(capture, function, args[0])
        if function.__name__ in operations._SWAPPED:
            return operations.compare(capture, function, *args)
        return operations.binary(capture, function, *args)

    return apply


def _exc_info(capture: Capture, args: Any, kwargs: Any) -> Any:
    error = capture.handled
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


def _id(capture: Capture, args: Any, kwargs: Any) -> int:
    return id(args[0])


def _callable(capture: Capture, args: Any, kwargs: Any) -> bool:
    return callable(args[0])


def _issubclass(capture: Capture, args: Any, kwargs: Any) -> bool:
    return issubclass(*args)


def _hash(capture: Capture, args: Any, kwargs: Any) -> int:
    method = in_class(type(args[0]), "__hash__")
    if type(method) is FunctionType and not isinstance(args[0], Tensor):
        return capture.call(method, (args[0],), {})
    return hash(args[0])


def _abs(capture: Capture, args: Any, kwargs: Any) -> Any:
    return operations.unary(capture, abs, args[0])


SPECIAL_CLASSES: dict[Any, Callable[..., Any]] = {
    type: _type,
    super: _super,
    str: _text(str),
    int: _number(int),
    float: _number(float),
    complex: _number(complex),
    bool: _bool,
    list: _list_of(list),
    tuple: _list_of(tuple),
    set: _list_of(set),
    frozenset: _list_of(frozenset),
    dict: _dict,
}

SPECIAL_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    marks.graph_break: _graph_break,
    marks.is_compiling: _true,
    compiler.is_compiling: _true,
    compiler.is_dynamo_compiling: _true,
    isinstance: _isinstance,
    issubclass: _issubclass,
    getattr: _getattr,
    hasattr: _hasattr,
    setattr: _setattr,
    delattr: _delattr,
    len: _len,
    iter: _iter,
    next: _next,
    repr: _text(repr),
    ascii: _text(ascii),
    format: _text(format),
    globals: _globals,
    vars: _vars,
    max: _extreme(max, None),
    min: _extreme(min, None),
    sum: _sum,
    any: _any_all(True),
    all: _any_all(False),
    sorted: _sorted,
    functools.reduce: _reduce,
    builtins.__build_class__: _build_class,
    sys.exc_info: _exc_info,
    id: _id,
    callable: _callable,
    hash: _hash,
    abs: _abs,
    _thread.get_ident: lambda capture, args, kwargs: _thread.get_ident(),
    sys.getrecursionlimit: lambda capture, args, kwargs: sys.getrecursionlimit(),
    sys.intern: lambda capture, args, kwargs: sys.intern(*args),
}
for _name in (
    "add and_ floordiv lshift matmul mul mod or_ pow rshift sub truediv xor iadd iand ifloordiv ilshift imatmul "
    "imul imod ior ipow irshift isub itruediv ixor lt le eq ne gt ge neg pos invert not_"
).split():
    _function = getattr(operations.operator, _name)
    SPECIAL_FUNCTIONS[_function] = _operator(_function)
SPECIAL_FUNCTIONS.update(
    {
        operations.operator.getitem: lambda capture, args, kwargs: operations.subscript(capture, *args),
        operations.operator.setitem: lambda capture, args, kwargs: operations.store_subscript(capture, *args),
        operations.operator.delitem: lambda capture, args, kwargs: operations.delete_subscript(
            capture, *args
        ),
        operations.operator.contains: lambda capture, args, kwargs: operations.contains(capture, *args),
        operations.operator.truth: lambda capture, args, kwargs: capture.truth(*args),
        operations.operator.is_: lambda capture, args, kwargs: args[0] is args[1],
        operations.operator.is_not: lambda capture, args, kwargs: args[0] is not args[1],
    }
)
