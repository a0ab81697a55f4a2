"""Builtin functions and classes that look at objects of the program, done by the interpreter itself."""

from __future__ import annotations

import _thread
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
    class_checks,
    custom_functions,
    iteration,
    marks,
    natives,
    operations,
    storing,
    torch_calls,
    transforms,
)
from torch_py._dynamo.attributes import call_own
from torch_py._dynamo.binding import build_class
from torch_py._dynamo.breaks import Break, data_dependent, unsupported_call
from torch_py._dynamo.decode.instructions import BINARY, COMPARE, UNARY
from torch_py._dynamo.generator import InterpretedGenerator
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.nested import has_tensors
from torch_py._dynamo.torch_modules import is_of_python
from torch_py._shapes.integers import SymInt, SymSize
from torch_py._tensor import Tensor
from torch_py.compiler import _questions

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


def _graph_break(capture: Capture, args: Any, kwargs: Any) -> None:
    text = args[0] if args else kwargs.get("msg", "")
    raise Break("torch._dynamo.graph_break()", text or "the program asks for it")


def _true(capture: Capture, args: Any, kwargs: Any) -> bool:
    return True


def _type(capture: Capture, args: Any, kwargs: Any) -> Any:
    if len(args) == 1:
        kind = capture.class_of(args[0])
        return kind if capture.is_new(kind) else capture.fixed(kind, kind.__name__)
    return capture.made(type(*args, **kwargs))


def _getattr(capture: Capture, args: Any, kwargs: Any) -> Any:
    try:
        return attributes.load(capture, args[0], args[1])
    except AttributeError:
        if len(args) == 2:
            raise
        return args[2]


def _len(capture: Capture, args: Any, kwargs: Any) -> int:
    (value,) = args
    if isinstance(value, Tensor):
        return torch_calls.method(capture, value, "__len__", [], {})  # type: ignore[no-any-return]
    length = call_own(capture, value, "__len__")
    if length is not ABSENT:
        return length  # type: ignore[no-any-return]
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
        return operations.text_of(capture, function, *args)

    return text


def _number(function: Any) -> Callable[..., Any]:
    """int(), float() and complex()."""

    def number(capture: Capture, args: Any, kwargs: Any) -> Any:
        if args and isinstance(args[0], Tensor):
            return torch_calls.method(capture, args[0], f"__{function.__name__}__", (), {})
        if function is int and len(args) == 1 and type(args[0]) is SymInt:
            return args[0]
        for name in (f"__{function.__name__}__", "__index__") if args else ():
            found = call_own(capture, args[0], name)
            if found is not ABSENT:
                return function(found)
        return function(*args, **kwargs)

    return number


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
            capture.are_keys(list(elements))
        return capture.made(kind(elements))

    return make


def _dict(capture: Capture, args: Any, kwargs: Any) -> Any:
    found: dict[Any, Any] = {}
    if args:
        given = args[0]
        if isinstance(given, dict) or hasattr(given, "keys"):
            found.update(capture.items_of(given))
        else:
            pairs = [tuple(capture.elements_of(pair)) for pair in capture.elements_of(given)]
            capture.are_keys([pair[0] for pair in pairs if pair])
            found.update(pairs)
    found.update(kwargs)
    return capture.made(found)


def _super(capture: Capture, args: Any, kwargs: Any) -> Any:
    if args:
        return super(*args)
    frame = capture.frame
    assert frame is not None
    cell = frame.slot(frame.program.names.index("__class__"))
    owner = frame.slot(0)
    if type(owner) is types.CellType:
        owner = owner.cell_contents
    return super(cell.cell_contents, owner)


def _globals(capture: Capture, args: Any, kwargs: Any) -> Any:
    frame = capture.frame
    assert frame is not None
    return capture.fixed(frame.globals, "G")


def _vars(capture: Capture, args: Any, kwargs: Any) -> Any:
    if not args:
        raise unsupported_call("vars", "it shows the variables of a frame")
    return attributes.load(capture, args[0], "__dict__")


def _extreme(function: Any) -> Callable[..., Any]:
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
    if is_of_python(capture.frame.globals.get("__name__", "")):
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


def _hash(capture: Capture, args: Any, kwargs: Any) -> int:
    (value,) = args
    if not isinstance(value, Tensor):
        found = call_own(capture, value, "__hash__")
        if found is not ABSENT:
            return hash(found)  # as large as a hash may be
        if type(value).__hash__ is object.__hash__:
            _guard_identity(capture, value)
        capture.use_fields(value)
    return hash(value)


def _of_operations(operation: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the interpreter that takes the arguments of the call."""
    return lambda capture, args, kwargs: operation(capture, *args)


SPECIAL_CLASSES: dict[Any, Callable[..., Any]] = {
    type: _type,
    super: _super,
    str: _text(str),
    bool: lambda capture, args, kwargs: bool(args) and capture.truth(args[0]),
    **{kind: _number(kind) for kind in (int, float, complex)},
    **{kind: _list_of(kind) for kind in (list, tuple, set, frozenset)},
    Size: _size,
    dict: _dict,
}


def signature(capture: Capture, function: FunctionType, args: Any, kwargs: Any) -> Any:
    """``inspect.signature`` of a function, which is guarded as if it were called."""
    target = getattr(args[0], "__func__", args[0]) if args else None
    if type(target) is not FunctionType:
        raise unsupported_call("inspect.signature", "it is called with something else than a function")
    capture.guard_code(target)
    return capture.made(function(*args, **kwargs))


SPECIAL_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    autograd.Function.apply.__func__: custom_functions.apply,
    autograd.grad: transforms.grad,
    marks.graph_break: _graph_break,
    **dict.fromkeys((marks.is_compiling, _utils.is_compiling), _true),
    **dict.fromkeys((_questions.is_compiling, _questions.is_dynamo_compiling), _true),
    isinstance: class_checks.is_instance,
    getattr: _getattr,
    hasattr: _of_operations(class_checks.has_attribute),
    setattr: _of_operations(storing.store),
    delattr: _of_operations(storing.delete),
    len: _len,
    iter: _iter,
    next: _next,
    **{function: _text(function) for function in (repr, ascii, format)},
    globals: _globals,
    vars: _vars,
    max: _extreme(max),
    min: _extreme(min),
    sum: _sum,
    any: _any_all(True),
    all: _any_all(False),
    sorted: _sorted,
    functools.reduce: _reduce,
    builtins.__build_class__: build_class,
    sys.exc_info: _exc_info,
    hash: _hash,
    id: _id,
    callable: _callable,
    issubclass: class_checks.is_subclass,
    _thread.get_ident: _guarded(_thread.get_ident),
    sys.getrecursionlimit: _guarded(sys.getrecursionlimit),
    sys.intern: lambda capture, args, kwargs: sys.intern(*args),
    operator.is_: _of_operations(operations.is_same),
    operator.is_not: lambda capture, args, kwargs: not operations.is_same(capture, *args),
    operator.getitem: _of_operations(operations.subscript),
    operator.setitem: _of_operations(operations.store_subscript),
    operator.delitem: _of_operations(operations.delete_subscript),
    operator.contains: _of_operations(operations.contains),
    operator.truth: _of_operations(iteration.truth),
}
for _function in (abs, *BINARY, *COMPARE.values(), *UNARY.values()):
    SPECIAL_FUNCTIONS[_function] = _operator(_function)


def of(callee: Any) -> Callable[..., Any] | None:
    """The function that does the calls of a builtin; None if it runs natively."""
    owner = getattr(callee, "__self__", None)
    if owner is not None and not isinstance(owner, (types.ModuleType, type)):
        return None  # a method, which may not be hashable
    return SPECIAL_FUNCTIONS.get(callee)
