"""Builtin functions and classes that look at objects of the program, done by the interpreter itself."""

from __future__ import annotations

import _thread
import abc
import builtins
import functools
import operator
import sys
import types
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py import _utils, autograd
from torch_py._C import Size
from torch_py._dynamo import (
    attributes,
    derivatives,
    formatting,
    iteration,
    marks,
    natives,
    operations,
    torch_calls,
)
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.breaks import Break, data_dependent, unsupported_call
from torch_py._dynamo.class_bodies import build_class
from torch_py._dynamo.frame import Frame, Pending
from torch_py._dynamo.generator import InterpretedGenerator
from torch_py._dynamo.nested import has_tensors
from torch_py._dynamo.torch_modules import is_of_torch, module_of
from torch_py._shapes.integers import SymInt, SymSize
from torch_py._tensor import Tensor
from torch_py.compiler import _questions
from torch_py.nn.modules._backward_hooks import BackwardHookFunction

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def _graph_break(capture: Capture, args: Any, kwargs: Any) -> None:
    text = args[0] if args else kwargs.get("msg", "")
    raise Break("torch._dynamo.graph_break()", text or "the program asks for it")


def _true(capture: Capture, args: Any, kwargs: Any) -> bool:
    return True


def _isinstance(capture: Capture, args: Any, kwargs: Any) -> bool:
    value, kinds = args
    if isinstance(value, (Tensor, SymSize)):
        return _is_of_subclass(capture, value, capture.class_of(value), kinds)
    if isinstance(value, InterpretedGenerator):
        return isinstance(value, kinds) or kinds is types.GeneratorType
    return _by_hook(capture, "__instancecheck__", value, type(value), kinds)


def _by_hook(capture: Capture, name: str, value: Any, kind: type, kinds: Any) -> bool:
    """Asks classes by their ``__instancecheck__`` or ``__subclasscheck__``: those of the program are
    interpreted, and answers of abstract classes, which others are registered for later, are guarded."""
    if isinstance(kinds, tuple):
        return any(_by_hook(capture, name, value, kind, one) for one in kinds)
    found = _by_own_hook(capture, name, value, kinds)
    if found is not None:
        return found

    answer = isinstance(value, kinds) if name == "__instancecheck__" else issubclass(value, kinds)
    if not answer and isinstance(kinds, abc.ABCMeta) and not capture.is_new(kinds):
        capture.add_abstract(kind, kinds)
    return answer


def _by_own_hook(capture: Capture, name: str, value: Any, kinds: Any) -> bool | None:
    """The answer of a hook of the program; None without one."""
    hook = in_class(type(kinds), name)
    if not isinstance(kinds, type) or type(hook) is not FunctionType or _is_of_library(hook):
        return None
    capture.depends_on_class(type(kinds), name)
    return capture.truth(capture.call(hook, (kinds, value), {}))


def _is_of_library(function: FunctionType) -> bool:
    return is_of_torch(function) or _is_library(module_of(function))


def _is_library(module: str) -> bool:
    """Whether a module comes with Python."""
    return module.partition(".")[0] in sys.stdlib_module_names


def _is_of_subclass(capture: Capture, value: Any, actual: type, kinds: Any) -> bool:
    if isinstance(kinds, tuple):
        return any(_is_of_subclass(capture, value, actual, kind) for kind in kinds)
    if isinstance(kinds, types.UnionType):
        return any(_is_of_subclass(capture, value, actual, kind) for kind in kinds.__args__)
    found = _by_own_hook(capture, "__instancecheck__", value, kinds)
    if found is not None:
        return found
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
        return torch_calls.method(capture, value, "__len__", [], {})  # type: ignore[no-any-return]
    method = in_class(type(value), "__len__")
    if type(method) is FunctionType:
        capture.depends_on_class(type(value), "__len__")
        return capture.call(method, (value,), {})
    capture.use_length(value)
    return len(value)


def _iter(capture: Capture, args: Any, kwargs: Any) -> Any:
    if len(args) == 2:
        return capture.made(iter(natives.called_natively(capture, args[0]), args[1]))
    return iteration.iterator_of(capture, args[0])


def _next(capture: Capture, args: Any, kwargs: Any) -> Any:
    if not hasattr(type(args[0]), "__next__"):
        raise TypeError(f"'{type(args[0]).__name__}' object is not an iterator")
    if isinstance(args[0], InterpretedGenerator) and len(args) == 1:
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
        if function is int and len(args) == 1 and type(args[0]) is SymInt:
            return args[0]
        if args:
            for name in (f"__{function.__name__}__", "__index__"):
                method = in_class(type(args[0]), name)
                if type(method) is FunctionType:
                    return function(capture.call(method, (args[0],), {}))
        return function(*args, **kwargs)

    return number


def _bool(capture: Capture, args: Any, kwargs: Any) -> bool:
    return capture.truth(args[0]) if args else False


def _size(capture: Capture, args: Any, kwargs: Any) -> Any:
    """torch.Size(), whose elements may vary."""
    if len(args) != 1 or kwargs:
        return capture.made(Size(*args, **kwargs))
    items = capture.elements_of(args[0])
    kind = SymSize if any(type(item) is SymInt for item in items) else Size
    return capture.made(kind(items))


def _list_of(kind: Any) -> Callable[..., Any]:
    """list(), tuple(), set() and frozenset()."""

    def make(capture: Capture, args: Any, kwargs: Any) -> Any:
        if not args:
            return capture.made(kind())
        elements = capture.elements_of(args[0])
        if kind in (set, frozenset):
            capture.use_fields(elements)
        return capture.made(kind(elements))

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
    cell = _slot(capture, frame, frame.program.names.index("__class__"))
    owner = _slot(capture, frame, 0)
    if type(owner) is types.CellType:
        owner = owner.cell_contents
    return super(cell.cell_contents, owner)


def _slot(capture: Capture, frame: Frame, number: int) -> Any:
    """The content of a slot, which a continuation may not have read yet."""
    value = frame.locals[number]
    return capture.admit(value.value, value.source) if type(value) is Pending else value


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
        capture.use_fields(elements)
        kwargs = _with_called(capture, kwargs, "key")
        return function(elements, **kwargs)

    return extreme


def _with_called(capture: Capture, kwargs: dict[str, Any], *names: str) -> dict[str, Any]:
    """The keyword arguments, with callables under `names` for native code to call."""
    called = {name: natives.called_natively(capture, kwargs[name]) for name in names if name in kwargs}
    return {**kwargs, **called}


def _sum(capture: Capture, args: Any, kwargs: Any) -> Any:
    total = args[1] if len(args) > 1 else kwargs.get("start", 0)
    for element in capture.elements_of(args[0]):
        total = operations.binary(capture, operator.add, total, element)
    return total


def _any_all(stop_at: bool) -> Callable[..., bool]:
    def answer(capture: Capture, args: Any, kwargs: Any) -> bool:
        iterator = iteration.iterator_of(capture, args[0])
        while (element := iteration.next_of(capture, iterator, iteration.END)) is not iteration.END:
            if capture.truth(element) is stop_at:
                return stop_at
        return not stop_at

    return answer


_READING_ELEMENTS = (None, str, repr, ascii, int, float, bool)


def _sorted(capture: Capture, args: Any, kwargs: Any) -> Any:
    elements = capture.elements_of(args[0])
    key = kwargs.get("key")
    if any(key is reading for reading in _READING_ELEMENTS) and has_tensors(elements):
        raise data_dependent("sorted() of tensors")
    capture.use_fields(elements)
    return capture.made(sorted(elements, **_with_called(capture, kwargs, "key")))


def _build_class(capture: Capture, args: Any, kwargs: Any) -> Any:
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


def _guarded(function: Callable[[], Any]) -> Callable[..., Any]:
    """A question about the process, whose answer is guarded."""

    def answer(capture: Capture, args: Any, kwargs: Any) -> Any:
        found = function()
        capture.guards.add("equals", capture.sources.call(f"{function.__name__}()", function), found)
        return found

    return answer


def _id(capture: Capture, args: Any, kwargs: Any) -> int:
    _guard_identity(capture, args[0])
    return id(args[0])


def _guard_identity(capture: Capture, value: Any) -> None:
    """Where an object is in memory holds for this object alone. Libraries compare such numbers only."""
    assert capture.frame is not None
    if _is_library(capture.frame.globals.get("__name__", "")):
        return
    if isinstance(value, Tensor):
        known = capture.recorder.input_of(capture.recorder.fake_of(value))
        if known is not None and known.source.kind != "constant":
            raise Break("id() of a tensor", "graphs are for other tensors, too", "")
    elif (origin := capture.origin_of(value)) is not None and origin.kind != "constant":
        capture.guards.add("is", origin, value)


def _callable(capture: Capture, args: Any, kwargs: Any) -> bool:
    capture.depends_on_absence(type(args[0]), "__call__")
    return callable(args[0])


def _issubclass(capture: Capture, args: Any, kwargs: Any) -> bool:
    value, kinds = args
    if not isinstance(value, type):
        return issubclass(value, kinds)
    return _by_hook(capture, "__subclasscheck__", value, value, kinds)


def _hash(capture: Capture, args: Any, kwargs: Any) -> int:
    method = in_class(type(args[0]), "__hash__")
    if type(method) is FunctionType and not isinstance(args[0], Tensor):
        return capture.call(method, (args[0],), {})
    if type(args[0]).__hash__ is object.__hash__:
        _guard_identity(capture, args[0])
    capture.use_fields(args[0])
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
    Size: _size,
    set: _list_of(set),
    frozenset: _list_of(frozenset),
    dict: _dict,
}


def _custom_function(capture: Capture, args: Any, kwargs: Any) -> Any:
    """``Function.apply`` of a custom autograd function, as one node: forward runs on fake tensors."""
    cls, *given = args
    if cls is BackwardHookFunction:
        raise unsupported_call(
            "a backward hook of a module", "it is called in backward, with gradients that are not captured"
        )
    capture.fixed(cls, cls.__name__)
    torch_calls.capture_arguments(capture, given, kwargs)
    capture.use_objects(*given, *kwargs.values())
    for name in ("forward", "backward", "setup_context"):
        capture.depends_on_class(cls, name)
        capture.use_function(getattr(cls, name))
    apply = cls.apply

    def run(*inner: Any, **named: Any) -> Any:
        return apply(*inner, **named)

    recorder = capture.recorder
    result = recorder.call("call_function", apply, tuple(given), kwargs, run, acts=True)
    return capture.result(result)


def signature(capture: Capture, function: FunctionType, args: Any, kwargs: Any) -> Any:
    """``inspect.signature`` of a function, which is guarded as if it were called."""
    target = getattr(args[0], "__func__", args[0]) if args else None
    if type(target) is not FunctionType:
        raise unsupported_call("inspect.signature", "it is called with something else than a function")
    if not capture.is_new(target):
        capture.fixed(target, target.__name__)
        source = capture.sources.attr(capture.origin_of(target), "__code__")  # type: ignore[arg-type]
        capture.guards.add("is", source, target.__code__)
    return capture.made(function(*args, **kwargs))


SPECIAL_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    autograd.Function.apply.__func__: _custom_function,
    autograd.grad: derivatives.grad,
    marks.graph_break: _graph_break,
    marks.is_compiling: _true,
    _utils.is_compiling: _true,
    _questions.is_compiling: _true,
    _questions.is_dynamo_compiling: _true,
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
    _thread.get_ident: _guarded(_thread.get_ident),
    sys.getrecursionlimit: _guarded(sys.getrecursionlimit),
    sys.intern: lambda capture, args, kwargs: sys.intern(*args),
}
for _name in (
    "add and_ floordiv lshift matmul mul mod or_ pow rshift sub truediv xor iadd iand ifloordiv "
    "ilshift imatmul "
    "imul imod ior ipow irshift isub itruediv ixor lt le eq ne gt ge neg pos invert not_"
).split():
    _function = getattr(operator, _name)
    SPECIAL_FUNCTIONS[_function] = _operator(_function)
SPECIAL_FUNCTIONS.update(
    {
        operator.getitem: lambda capture, args, kwargs: operations.subscript(capture, *args),
        operator.setitem: lambda capture, args, kwargs: operations.store_subscript(capture, *args),
        operator.delitem: lambda capture, args, kwargs: operations.delete_subscript(capture, *args),
        operator.contains: lambda capture, args, kwargs: operations.contains(capture, *args),
        operator.truth: lambda capture, args, kwargs: capture.truth(*args),
        operator.is_: lambda capture, args, kwargs: operations.is_same(capture, *args),
        operator.is_not: lambda capture, args, kwargs: not operations.is_same(capture, *args),
    }
)


def of(callee: Any) -> Callable[..., Any] | None:
    """The function that does the calls of a builtin; None if it runs natively."""
    owner = getattr(callee, "__self__", None)
    if owner is not None and not isinstance(owner, (types.ModuleType, type)):
        return None  # a method, which may not be hashable
    return SPECIAL_FUNCTIONS.get(callee)
