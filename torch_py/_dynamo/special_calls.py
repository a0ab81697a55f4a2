"""Builtin functions and classes that look at objects of the program, done by the interpreter itself."""

from __future__ import annotations

import _thread
import abc
import builtins
import functools
import inspect
import math
import operator
import sys
import types
import typing
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from torch_py import _utils, autograd
from torch_py._C import Size
from torch_py._dynamo import attributes, marks, natives, operations, torch_calls, transforms
from torch_py._dynamo.decode import BINARY, COMPARE, UNARY
from torch_py._dynamo.exc import Break, data_dependent, unsupported_call
from torch_py._dynamo.frame import build_class
from torch_py._dynamo.handlers.control import InterpretedGenerator
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.native_rules import is_of_python, is_of_torch, module_of, own_name
from torch_py._dynamo.varying_arguments import has_tensors
from torch_py._shapes.numbers import Held, SymInt, SymSize
from torch_py._tensor import Tensor
from torch_py.compiler import _questions

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
        if fields is not None and name in fields and attributes.in_class(kind, name) is ABSENT:
            capture.depends_on_type_of_field(value, name)
        else:
            has_attribute(capture, value, name)


def has_attribute(capture: Capture, value: Any, name: str, /) -> bool:
    return _getattr(capture, value, name, ABSENT) is not ABSENT


def _by_own_hook(capture: Capture, name: str, value: Any, kinds: Any) -> bool | None:
    """The answer of a hook of the program; None without one."""
    hook = attributes.in_class(type(kinds), name)
    if not isinstance(kinds, type) or type(hook) is not types.FunctionType:
        return None
    if is_of_torch(hook) or is_of_python(module_of(hook)):
        return None
    capture.depends_on_class(type(kinds), name)
    return capture.truth(capture.call(hook, (kinds, value), {}))


def _graph_break(capture: Capture, msg: str = "") -> None:
    raise Break("torch._dynamo.graph_break()", msg or "the program asks for it")


def _type(capture: Capture, /, *args: Any, **kwargs: Any) -> Any:
    if len(args) == 1:
        kind = capture.class_of(args[0])
        return kind if capture.is_new(kind) else capture.fixed(kind, kind.__name__)
    return capture.made(type(*args, **kwargs))


def _getattr(capture: Capture, owner: Any, name: str, /, *default: Any) -> Any:
    try:
        return attributes.load(capture, owner, name)
    except AttributeError:
        if not default:
            raise
        return default[0]


def _len(capture: Capture, value: Any, /) -> int:
    if isinstance(value, Tensor):
        return torch_calls.method(capture, value, "__len__", [], {})  # type: ignore[no-any-return]
    length = attributes.call_own(capture, value, "__len__")
    if length is not ABSENT:
        return length  # type: ignore[no-any-return]
    capture.use_length(value)
    return len(value)


def _iter(capture: Capture, value: Any, /, *sentinel: Any) -> Any:
    if sentinel:
        return capture.made(iter(natives.called_natively(capture, value), *sentinel))
    return operations.iterator_of(capture, value)


def _next(capture: Capture, iterator: Any, /, *default: Any) -> Any:
    if isinstance(iterator, InterpretedGenerator) and not default:
        return iterator.send(None)
    value = operations.next_of(capture, iterator, operations.END)
    if value is not operations.END:
        return value
    if not default:
        raise StopIteration
    return default[0]


def _text(function: Any, capture: Capture, *args: Any, **kwargs: Any) -> str:
    if function is str and (len(args) != 1 or kwargs):
        return str(*args, **kwargs)
    return operations.text_of(capture, function, *args)


def _number(function: Any, capture: Capture, *args: Any, **kwargs: Any) -> Any:
    """int(), float() and complex()."""
    if args and isinstance(args[0], Tensor):
        return torch_calls.method(capture, args[0], f"__{function.__name__}__", (), {})
    if function in (int, float) and len(args) == 1 and type(args[0]) is SymInt:
        return args[0] if function is int else args[0] / 1
    for name in (f"__{function.__name__}__", "__index__") if args else ():
        found = attributes.call_own(capture, args[0], name)
        if found is not ABSENT:
            return function(found)
    return function(*args, **kwargs)


def _list_of(kind: Any, capture: Capture, given: Any = (), /) -> Any:
    """list(), tuple(), set(), frozenset() and torch.Size(), whose elements may vary."""
    elements = capture.elements_of(given)
    if kind in (set, frozenset):
        capture.use_fields(elements)
    elif kind is Size and any(type(item) is SymInt for item in elements):
        kind = SymSize
    return capture.made(kind(elements))


def _dict(capture: Capture, given: Any = (), /, **kwargs: Any) -> Any:
    if isinstance(given, dict) or hasattr(given, "keys"):
        return capture.made({**capture.items_of(given), **kwargs})
    pairs = [tuple(capture.elements_of(pair)) for pair in capture.elements_of(given)]
    capture.use_fields([pair[0] for pair in pairs if pair])
    return capture.made(dict(pairs, **kwargs))


def _super(capture: Capture, *args: Any) -> Any:
    if args:
        return super(*args)
    frame: Any = capture.frame
    cell = frame.slot(frame.program.names.index("__class__"))
    owner = frame.slot(0)
    if type(owner) is types.CellType:
        owner = owner.cell_contents
    return super(cell.cell_contents, owner)


def _vars(capture: Capture, *args: Any) -> Any:
    if not args:
        raise unsupported_call("vars", "it shows the variables of a frame")
    return attributes.load(capture, args[0], "__dict__")


_READING_ELEMENTS = (None, str, repr, ascii, int, float, bool)


def _extreme(function: Any, capture: Capture, *args: Any, key: Any = None, **kwargs: Any) -> Any:
    """max(), min() and sorted(). Native code looks into the results of `key` and, if it does not call the
    interpreter for them, into the elements."""
    elements = capture.elements_of(args[0]) if len(args) == 1 else list(args)
    if any(key is reading for reading in _READING_ELEMENTS) and has_tensors(elements):
        raise data_dependent(f"{function.__name__}() of tensors")
    key_function = natives.called_natively(capture, key)
    if key_function is key:
        capture.use_fields(elements)
    if not capture.varying.places:
        return function(elements, key=key_function, **kwargs)

    # A float would compare itself with the stand-ins of integers.
    sign, comparison = (1, operator.gt) if function is max else (-1, operator.lt)
    ordered = functools.cmp_to_key(lambda a, b: sign * operations.binary(capture, comparison, a, b))
    return function(elements, key=lambda one: ordered(key_function(one) if key else one), **kwargs)


def _fold(capture: Capture, function: Any, elements: Any, start: Any) -> Any:
    for element in capture.elements_of(elements):
        start = operations.binary(capture, function, start, element)
    return start


def _any_all(stop_at: bool, capture: Capture, elements: Any, /) -> bool:
    elements = operations.rest_of(capture, operations.iterator_of(capture, elements))
    return any(capture.truth(element) is stop_at for element in elements) is stop_at


def _reduce(capture: Capture, function: Any, given: Any, /, *initial: Any) -> Any:
    elements = [*initial, *capture.elements_of(given)]
    return functools.reduce(lambda total, element: capture.call(function, (total, element), {}), elements)


def _operator(function: Any, capture: Capture, *operands: Any) -> Any:
    operate = operations.unary if len(operands) == 1 else operations.binary
    return operate(capture, function, *operands)


def _exc_info(capture: Capture) -> Any:
    error = capture.handled
    return (None, None, None) if error is None else (type(error), error, error.__traceback__)


def _guarded(function: Callable[[], Any], capture: Capture) -> Any:
    """A question about the process, whose answer is guarded."""
    found = function()
    capture.guards.add("equals", capture.sources.call(f"{function.__name__}()", function), found)
    return found


def _id(capture: Capture, value: Any, /) -> int:
    _guard_identity(capture, value)
    return id(value)


_COMPARING = ("torch_py.nn.", "torch_py._functorch.")  # our own modules that use id() to compare tensors


def _guard_identity(capture: Capture, value: Any) -> None:
    """Where an object is in memory holds for this object alone. Libraries compare such numbers only."""
    frame: Any = capture.frame
    module = frame.globals.get("__name__", "")
    if is_of_python(module):
        return
    if isinstance(value, Tensor):
        if own_name(module).startswith(_COMPARING):
            return  # which of a graph's tensors are the same one is guarded
        known = capture.recorder.input_of(capture.recorder.fake_of(value))
        if known is not None and known.source.kind != "constant":
            raise Break("id() of a tensor", "graphs are for other tensors, too")
    else:
        capture.guard_identity(value)


def _callable(capture: Capture, value: Any, /) -> bool:
    capture.depends_on_absence(type(value), "__call__")
    return callable(value)


def _hash(capture: Capture, value: Any, /) -> int:
    if not isinstance(value, Tensor):
        found = attributes.call_own(capture, value, "__hash__")
        if found is not ABSENT:
            number = capture.as_number(found)
            return hash(type("Hashed", (), {"__hash__": lambda self: number})())  # as large as a hash may be
        if type(value).__hash__ is object.__hash__:
            _guard_identity(capture, value)
        capture.use_fields(value)
    return hash(value)


def _signature(capture: Capture, target: Any, **kwargs: Any) -> Any:
    """``inspect.signature`` of a function, which is guarded as if it were called."""
    function = getattr(target, "__func__", target)
    if type(function) is not types.FunctionType:
        raise unsupported_call("inspect.signature", "it is called with something else than a function")
    capture.guard_code(function)
    return capture.made(inspect.signature(target, **kwargs))


_ASKING_FOR_COMPILER = (_utils.is_compiling, _questions.is_compiling, _questions.is_dynamo_compiling)

# Each is called with the capture and the arguments of the call.
SPECIAL_CALLS: dict[Any, Callable[..., Any]] = {
    type: _type,
    super: _super,
    str: partial(_text, str),
    bool: lambda capture, *args: bool(args) and capture.truth(*args),
    **{kind: partial(_number, kind) for kind in (int, float, complex)},
    **{kind: partial(_list_of, kind) for kind in (list, tuple, set, frozenset, Size)},
    dict: _dict,
    autograd.Function.apply.__func__: transforms.apply_function,
    autograd.grad: transforms.grad,
    marks.graph_break: _graph_break,
    **dict.fromkeys(_ASKING_FOR_COMPILER, lambda capture: True),
    inspect.signature: _signature,
    isinstance: is_instance,
    getattr: _getattr,
    hasattr: has_attribute,
    setattr: attributes.store,
    delattr: attributes.delete,
    len: _len,
    iter: _iter,
    next: _next,
    **{function: partial(_text, function) for function in (repr, ascii, format)},
    globals: lambda capture: capture.fixed(capture.frame.globals, "G"),
    vars: _vars,
    max: partial(_extreme, max),
    min: partial(_extreme, min),
    sum: lambda capture, elements, /, start=0: _fold(capture, operator.add, elements, start),
    math.prod: lambda capture, elements, /, *, start=1: _fold(capture, operator.mul, elements, start),
    any: partial(_any_all, True),
    all: partial(_any_all, False),
    sorted: lambda capture, given, /, **kwargs: capture.made(_extreme(sorted, capture, given, **kwargs)),
    functools.reduce: _reduce,
    builtins.__build_class__: build_class,
    sys.exc_info: _exc_info,
    hash: _hash,
    id: _id,
    callable: _callable,
    issubclass: is_subclass,
    _thread.get_ident: partial(_guarded, _thread.get_ident),
    sys.getrecursionlimit: partial(_guarded, sys.getrecursionlimit),
    sys.intern: lambda capture, text, /: sys.intern(text),
    operator.is_: operations.is_same,
    operator.is_not: lambda capture, *operands: not operations.is_same(capture, *operands),
    operator.getitem: operations.subscript,
    operator.setitem: operations.store_subscript,
    operator.delitem: operations.delete_subscript,
    operator.contains: operations.contains,
    operator.truth: operations.truth,
    **{function: partial(_operator, function) for function in (abs, *BINARY, *COMPARE, *UNARY.values())},
}
