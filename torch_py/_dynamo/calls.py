"""What a call does while a program is captured: it is interpreted, recorded, run natively, or ends the
graph. Classes make new objects, or are used like functions."""

from __future__ import annotations

import enum
import functools
import itertools
import operator
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo import attributes, native_rules, natives, special_calls, torch_calls, transforms
from torch_py._dynamo.attributes import TensorMethod, call_own, in_class, load
from torch_py._dynamo.decode import ASYNCHRONOUS
from torch_py._dynamo.exc import Break, unsupported_call
from torch_py._dynamo.frame import Frame, bind, fill_closure
from torch_py._dynamo.handlers.control import InterpretedGenerator
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.operations import is_native_iterator, iterator_of, refuse_foreign
from torch_py._dynamo.varying_arguments import all_fixed, keeps_sizes
from torch_py._ops import OpOverload, OpOverloadPacket
from torch_py._shapes.numbers import SymSize
from torch_py._tensor import Tensor
from torch_py.compiler import _marks
from torch_py.nn.modules._calls import ModuleCalls
from torch_py.nn.modules.module import _REGISTRIES, Module

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


_BOUND = (MethodType, TensorMethod, types.BuiltinFunctionType)
_DESCRIPTORS = (types.MethodDescriptorType, types.WrapperDescriptorType, types.ClassMethodDescriptorType)


def call(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any], tail: bool = False) -> Any:
    """``callee(*args, **kwargs)``. `tail`: the calling instruction only pushes the result."""
    kind = type(callee)
    if _marks.substitutes or _marks.in_graph or _marks.broken or _marks.constants:
        found = _by_mark(capture, callee, args, kwargs)
        if found is not NotImplemented:
            return found
    if kind in (FunctionType, types.BuiltinFunctionType) or isinstance(callee, type):
        special = special_calls.SPECIAL_CALLS.get(callee)
        if special is not None:
            return special(capture, *args, **kwargs)
    if kind is FunctionType:
        return _function(capture, callee, args, kwargs, tail)
    if kind in _BOUND and isinstance(callee.__self__, Tensor):
        return torch_calls.method(capture, callee.__self__, callee.__name__, args, kwargs)
    if kind is MethodType:
        if isinstance(callee.__self__, InterpretedGenerator):
            return capture.result(callee(*args, **kwargs))
        read = _reader(capture, callee)
        return call(capture, read(callee, "__func__"), [read(callee, "__self__"), *args], kwargs, tail)

    if kind is types.BuiltinFunctionType:
        return _builtin(capture, callee, args, kwargs)
    if isinstance(callee, type):
        return construct(capture, callee, args, kwargs)
    if kind in _DESCRIPTORS:
        return natives.call_descriptor(capture, callee, args, kwargs)
    if kind is types.MethodWrapperType:
        return natives.call_wrapper(capture, callee, args, kwargs)
    if kind is functools.partial:
        return _partial(capture, callee, args, kwargs, tail)
    return _object(capture, callee, kind, args, kwargs, tail)


def _by_mark(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a call that the program has marked; NotImplemented for others."""
    if not isinstance(callee, Hashable):
        return NotImplemented
    if callee in _marks.substitutes:
        return call(capture, _marks.substitutes[callee], args, kwargs)
    if callee in _marks.in_graph:
        return torch_calls.function(capture, callee, args, kwargs)

    if callee in _marks.broken:
        name = getattr(callee, "__name__", "a callable")
        raise unsupported_call(name, "it is marked to be kept out of graphs")
    if callee in _marks.constants:
        with capture.recorder.outside():
            return capture.made(callee(*args, **kwargs))
    return NotImplemented


def _function(capture: Capture, function: FunctionType, args: Any, kwargs: dict[str, Any], tail: bool) -> Any:
    if function is _GETATTR and not kwargs and len(args) == 2:
        found = _registered(capture, *args)
        if found is not ABSENT:
            capture.guard_code(function)
            return found
    if function.__name__ == "is_in_onnx_export" and native_rules.is_of_torch(function):
        with capture.recorder.outside():  # modes of the capture are not those of an export
            return function()

    if function in torch_calls.public_functions():
        return torch_calls.function(capture, function, args, kwargs)
    if transforms.is_transform(function):
        return transforms.call(capture, function, args, kwargs)
    reason = _reason_against(function)
    if reason is not None:
        raise reason
    return interpret(capture, function, args, kwargs, tail)


def _reason_against(function: FunctionType) -> Break | None:
    """Why a function is not interpreted."""
    disabled = function.__dict__.get("_torchdynamo_disable")
    if disabled:
        why = function.__dict__.get("_torchdynamo_disable_msg") or "it is marked with torch.compiler.disable"
        return unsupported_call(function.__qualname__, why, "remove the mark, or move the call out")
    if function.__code__.co_flags & ASYNCHRONOUS:
        return unsupported_call(function.__qualname__, "asynchronous functions are not captured")
    return native_rules.reason_against_module(function)


def interpret(capture: Capture, function: FunctionType, args: Any, kwargs: dict[str, Any], tail: bool) -> Any:
    """Runs a function of Python in a frame of its own."""
    capture.guard_code(function)
    frame = Frame(capture, function.__code__, function.__globals__)
    frame.is_tail = tail
    slots = bind(capture, function, args, kwargs)
    frame.locals[: len(slots)] = slots
    fill_closure(capture, frame, function)
    if len(frame.caller_frames()) > min(sys.getrecursionlimit() // 8, 400):
        raise RecursionError("maximum recursion depth exceeded")
    return frame.run()


def _builtin(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    owner = callee.__self__
    if callee.__name__ == "__new__" and isinstance(owner, type) and args:
        return new_natively(capture, callee, args[0], args[1:], kwargs)
    return natives.call_builtin(capture, callee, args, kwargs)


def _partial(capture: Capture, callee: Any, args: Any, kwargs: dict[str, Any], tail: bool) -> Any:
    read = _reader(capture, callee)
    first = capture.elements_of(read(callee, "args"))
    named = capture.items_of(read(callee, "keywords"))
    return call(capture, read(callee, "func"), [*first, *args], {**named, **kwargs}, tail)


def _reader(capture: Capture, callee: Any) -> Callable[[Any, str], Any]:
    """Gives the parts of a callable, with guards if it existed before."""
    existed = capture.origin_of(callee) is not None and not capture.is_new(callee)
    return capture.read_native if existed else getattr


def _object(capture: Capture, callee: Any, kind: type, args: Any, kwargs: dict[str, Any], tail: bool) -> Any:
    if kind is natives.Interpreted:
        return call(capture, callee.function, args, kwargs, tail)
    if isinstance(callee, (OpOverload, OpOverloadPacket)):
        return torch_calls.function(capture, callee, args, kwargs)
    original = getattr(callee, "_torchdynamo_orig_callable", None)
    if original is not None and not isinstance(callee, (FunctionType, type)):
        return call(capture, original, args, kwargs, tail)

    method = in_class(kind, "__call__")
    if type(method) is FunctionType:
        capture.depends_on_class(kind, "__call__")
        if method is _CALL and _calls_forward(capture, callee):
            capture.guard_code(method)
            return call(capture, load(capture, callee, "forward"), args, kwargs, tail)
        return call(capture, method, [callee, *args], kwargs, tail)
    if method is ABSENT:
        raise TypeError(f"'{kind.__name__}' object is not callable")
    if isinstance(callee, (operator.itemgetter, operator.attrgetter, operator.methodcaller)):
        return natives.call_getter(capture, callee, args)
    if isinstance(callee, functools._lru_cache_wrapper):
        return call(capture, callee.__wrapped__, args, kwargs)
    if type(method) not in (types.WrapperDescriptorType, types.MethodDescriptorType):
        return call(capture, attributes.bind(capture, method, callee, kind, "__call__"), args, kwargs)
    raise unsupported_call(f"a {kind.__name__}")


# Modules: in one step what `Module.__getattr__` and `Module.__call__` do, which every layer of a model calls.
# They read the same places as the methods, so the guards are the same. A module for which there is more to
# do, such as one with hooks, is left to the interpreter.

_GETATTR: Any = Module.__getattr__
_CALL: Any = ModuleCalls.__call__

_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def _registered(capture: Capture, module: Any, name: str) -> Any:
    """``Module.__getattr__(module, name)``: a parameter, buffer or submodule.

    ABSENT if the module has no such name, or if it takes an interpreter to find out.
    """
    fields = load(capture, module, "__dict__")
    for registry in _REGISTRIES:
        entries = capture.read_key(fields, registry)
        if entries is ABSENT:
            continue
        if type(entries) not in (dict, OrderedDict):
            return ABSENT
        value = capture.read_key(entries, name)
        if value is not ABSENT:
            return value
    return ABSENT


def _calls_forward(capture: Capture, module: Any) -> bool:
    """Whether a call of a module calls its `forward` and nothing else."""
    namespace = _CALL.__globals__
    capture.fixed(namespace, "G")
    if capture.truth(capture.read_key(namespace, "_everywhere")):
        return False

    fields = load(capture, module, "__dict__")
    for hooks in _HOOKS:
        found = capture.read_key(fields, hooks)
        if found is ABSENT or capture.truth(found):
            return False
    return capture.read_key(fields, "_compiled_call_impl") is ABSENT


def construct(capture: Capture, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    """``cls(*args, **kwargs)``."""
    if issubclass(cls, Tensor):
        raise Break(f"a new {cls.__name__}", "only functions of torch make tensors in a graph")

    meta_call = in_class(type(cls), "__call__")
    if type(meta_call) is FunctionType:
        if isinstance(cls, enum.EnumMeta):
            return cls(*args, **kwargs)
        return capture.call(meta_call, (cls, *args), kwargs)
    capture.depends_on_absence(type(cls), "__call__")

    made = _new(capture, cls, args, kwargs)
    if isinstance(made, cls):
        _initialise(capture, made, args, kwargs)
    return made


def _new(capture: Capture, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    found = in_class(cls, "__new__")
    function = found.__func__ if isinstance(found, staticmethod) else found
    if type(function) is FunctionType:
        capture.depends_on_class(cls, "__new__")
        return capture.call(function, (cls, *args), kwargs)
    capture.depends_on_absence(cls, "__new__")
    return new_natively(capture, function, cls, args, kwargs)


def new_natively(capture: Capture, function: Any, cls: type, args: Any, kwargs: dict[str, Any]) -> Any:
    """What the ``__new__`` of a built-in type makes."""
    owner = getattr(function, "__self__", None)
    if owner is object:
        return capture.made(object.__new__(cls, *args, **kwargs))
    if owner is reversed and len(args) == 1:
        found = call_own(capture, args[0], "__reversed__")
        if found is not ABSENT:
            return found
        kind = type(args[0])
        if type(in_class(kind, "__getitem__")) is FunctionType and in_class(kind, "__reversed__") is ABSENT:
            if kind is not SymSize:
                positions = capture.call(range, (capture.call(len, args, {}) - 1, -1, -1), {})
                return capture.call(map, (load(capture, args[0], "__getitem__"), positions), {})
    if isinstance(owner, type) and (owner in native_rules.PURE_CLASSES or issubclass(owner, BaseException)):
        for value in (*args, *kwargs.values()):
            capture.use(value)
            refuse_foreign(capture, value)

        if owner in _CALLED:
            args, kwargs = _with_called(capture, owner, args, kwargs)
        elif owner in _LOOKING:
            capture.use_fields(*args[_LOOKING[owner] :])

        if issubclass(owner, dict):  # which may call them, unlike partial
            args = [natives.callable_for_native(capture, value) for value in args]
        if hasattr(owner, "__next__"):  # zip, enumerate, chain
            args = [iterator_of(capture, value) if _is_interpreted(value) else value for value in args]
        if not keeps_sizes(owner):
            args = [all_fixed(capture.varying, value) for value in args]
        capture.acts()
        return capture.made(function(cls, *args, **kwargs))
    raise unsupported_call(cls.__name__, "its objects are made by native code")


# Classes that look at the objects which they are given, from which argument on.
_LOOKING: dict[Any, int] = {
    **dict.fromkeys((range, bytes, bytearray), 0),
    **dict.fromkeys((enumerate, itertools.compress, itertools.islice, itertools.repeat), 1),
}
# Iterators that call a function: the position and the name of that argument.
_CALLED: dict[Any, tuple[int, str]] = {
    **dict.fromkeys((map, filter, itertools.starmap, itertools.takewhile), (0, "")),
    **dict.fromkeys((itertools.dropwhile, itertools.filterfalse), (0, "")),
    itertools.accumulate: (1, "func"),
    itertools.groupby: (1, "key"),
}


def _with_called(capture: Capture, owner: type, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments of an iterator with a function that is interpreted.

    What a native function is called with is looked at now: it may call special methods.
    """
    position, name = _CALLED[owner]
    given = args[position] if len(args) > position else kwargs.get(name)
    is_read = owner not in (map, itertools.starmap, itertools.accumulate)
    function = natives.called_natively(capture, given, is_read)
    if function is given:
        capture.use_fields(*args)
    args = [function if at == position else value for at, value in enumerate(args)]
    return args, {key: function if key == name else value for key, value in kwargs.items()}


def _is_interpreted(value: Any) -> bool:
    """Whether iterating over a value is up to the interpreter."""
    own = type(in_class(type(value), "__iter__")) is FunctionType
    return isinstance(value, Tensor) or (own and not is_native_iterator(value))


def _initialise(capture: Capture, made: Any, args: Any, kwargs: dict[str, Any]) -> None:
    kind = type(made)
    method = in_class(kind, "__init__")
    if type(method) is FunctionType:
        capture.depends_on_class(kind, "__init__")
        result = capture.call(method, (made, *args), kwargs)
        if result is not None:
            raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")
        return
    capture.depends_on_absence(kind, "__init__")
    if method is not object.__init__:
        natives.call_descriptor(capture, method, [made, *args], kwargs)
