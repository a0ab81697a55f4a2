"""Calls of torch: nodes of the graph, questions about state, and what cannot be in a graph."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import torch_py
from torch_py._dynamo.exc import Break, data_dependent, unsupported_call
from torch_py._dynamo.native_rules import by_name, is_of_torch, is_operator
from torch_py._dynamo.varying_arguments import has_tensors
from torch_py._ops import _own_overloads, packet
from torch_py._shapes.numbers import SymInt
from torch_py._tags import Tag
from torch_py._tensor import Tensor
from torch_py.nn import functional
from torch_py.utils._pytree import tree_flatten

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture

# Methods that give values, memory or history of a tensor to Python.
_BREAKING_METHODS = by_name(
    {
        "a list of numbers": "tolist",
        "an array": "numpy __array__",
        "a truth value": "__bool__ __contains__",
        "a number": "__int__ __float__ __index__ __complex__",
        "a text": "__repr__ __str__ __format__",
        "an address": "data_ptr",
        "its memory": "untyped_storage storage",
        "whether it has the memory of another tensor": "is_set_to",
        "whether processes share its memory": "is_shared",
    }
)
_UNCAPTURED_METHODS = (
    "backward register_hook register_post_accumulate_grad_hook retain_grad requires_grad_ set_ resize_ "
    "resize_as_ share_memory_ __deepcopy__ __reduce_ex__ pin_memory as_subclass __dlpack__ __setstate__"
).split()


def method(capture: Capture, owner: Tensor, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A method of a tensor."""
    owner = capture.recorder.fake_of(owner)
    capture.depends_on_class(Tensor, name)  # which a program may replace
    if name in _BREAKING_METHODS or _read_by(name) is not None:
        return _value(capture, owner, name, args)
    if name in _UNCAPTURED_METHODS:
        raise Break(f"call of Tensor.{name}", "it changes or uses what is not in a graph")
    if name == "__hash__":
        return hash(owner)
    if name == "__len__":
        return capture.recorder.number(name, (owner,), len(owner), len)
    args, kwargs = capture_arguments(capture, args, kwargs)
    if name == "__setitem__" and not kwargs:
        # As the statement that calls it: graphs keep that, although nothing uses its result.
        return capture.recorder.call("call_function", operator.setitem, (owner, *args), {}, operator.setitem)

    def run(tensor: Any, *rest: Any, **named: Any) -> Any:
        return getattr(tensor, name)(*rest, **named)

    return capture.result(capture.recorder.call("call_method", name, (owner, *args), kwargs, run))


_OF_CONSTANTS = "item tolist __bool__ __int__ __float__ __index__".split()


def _value(capture: Capture, owner: Tensor, name: str, args: Any) -> Any:
    constant = capture.recorder.constant_of(owner)
    if constant is not None and not args and name in _OF_CONSTANTS:
        with capture.recorder.outside():
            return getattr(constant, name)()
    raise data_dependent(f"Tensor.{name}() gives {_BREAKING_METHODS.get(name) or _read_by(name)}")


@cache
def _read_by(name: str) -> str | None:
    """What an operator makes of elements for Python; None if it gives tensors, or needs no elements."""
    for overload in _own_overloads().get(name, ()):
        operator = getattr(packet("aten", name), overload)
        if Tag.data_dependent_output in operator.tags:
            return "a truth value" if operator._schema.returns[0].type == "bool" else "a number"
    return None


def capture_arguments(capture: Capture, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The arguments of a node. Lists become new ones of what they have, so that numbers may vary."""
    args = tuple(map(capture.opened, args))
    kwargs = {name: capture.opened(value) for name, value in kwargs.items()}
    capture.use_fields(*args, *kwargs.values())
    capture.keep(*args, *kwargs.values())
    return args, kwargs


# Functions


# These are asked about tensors and shapes.
_QUESTIONS = ("is_tensor", "is_storage", "typename", "broadcast_shapes")


@cache
def public_functions() -> frozenset[Any]:
    """Functions of Python that are one node each. All others are interpreted."""
    return frozenset(
        value
        for module in (torch_py._functional, functional)
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and not name.startswith("_") and name not in _QUESTIONS
    )


def is_torch_builtin(callee: Any) -> bool:
    """Whether a function of C is this library's; those of its types have no module, but an owner."""
    return is_of_torch(callee) or is_of_torch(getattr(callee, "__self__", None))


def function(capture: Capture, callee: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of torch, as one node if its result has tensors."""
    args, kwargs = capture_arguments(capture, args, kwargs)
    for value in (*args, *kwargs.values()):
        if isinstance(value, FunctionType):
            raise unsupported_call(callee.__name__, "it calls a function of the program")
    return capture.result(capture.recorder.call("call_function", callee, args, kwargs, callee))


# Functions of C++ that are not operators

_STATE = (
    "_set_grad_enabled set_autocast_enabled set_autocast_dtype set_autocast_cache_enabled "
    "clear_autocast_cache _set_inference_mode"
).split()
# Of blocks of autocast that the thread is in; what a capture changes of their number is written afterwards.
_COUNTERS = ("autocast_increment_nesting", "autocast_decrement_nesting")
_ANSWERS = (
    "is_grad_enabled is_inference_mode_enabled is_autocast_enabled get_autocast_dtype "
    "is_autocast_cache_enabled get_default_dtype promote_types result_type can_cast get_num_threads "
    "is_anomaly_enabled _is_torch_function_enabled _is_torch_function_mode_enabled _get_default_device "
    "_current_level"
).split()


def builtin(capture: Capture, callee: BuiltinFunctionType, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of the native module."""
    name = callee.__name__
    if name in _STATE:
        return _change_state(capture, callee, args, kwargs)
    if name in _COUNTERS:
        return callee()

    read = _read_by(name)
    if read is not None:
        raise data_dependent(f"torch.{name}() gives {read}")

    if name in _ANSWERS or name.startswith("_has_torch_function") or name == "_overrides_torch_function":
        return _answer(capture, callee, args, kwargs)
    if name in ("tensor", "as_tensor", "asarray"):
        return _from_data(capture, callee, args, kwargs)
    if not is_operator(callee):
        raise unsupported_call(name)
    return function(capture, callee, args, kwargs)


def _answer(capture: Capture, callee: Any, args: Any, kwargs: Any) -> Any:
    with capture.recorder.suspended():
        answer = callee(*args, **kwargs)
    before = _UNGUARDED.get(callee.__name__)
    if before is not None:
        place = capture.sources.call(f"torch.{callee.__name__}()", callee, *args, *kwargs.values())
        capture.guards.add("equals", place, before(capture, answer, *args, *kwargs.values()))
    return capture.result(answer)


# What each graph is not guarded by anyway: the answers before the capture.
_UNGUARDED: dict[str, Callable[..., Any]] = {
    "get_num_threads": lambda capture, answer: answer,
    "is_anomaly_enabled": lambda capture, answer: answer,
    "is_autocast_cache_enabled": lambda capture, answer: capture.before.cache,
    "get_autocast_dtype": lambda capture, answer, kind: capture.before.autocast.get(kind, (0, answer))[1],
}


def _change_state(capture: Capture, callee: Any, args: Any, kwargs: Any) -> Any:
    """A switch of the thread: it is set while the program is captured, and by a node of the graph."""
    with capture.recorder.suspended():
        result = callee(*args, **kwargs)
    node = capture.recorder.append("call_function", callee, tuple(args), kwargs, result)
    node.meta["acts"] = node.meta["sets_state"] = True
    return result


def _from_data(capture: Capture, callee: Any, args: Any, kwargs: Any) -> Any:
    """A tensor of numbers of the program."""
    if args and has_tensors(args[0]) and not isinstance(args[0], Tensor):
        raise data_dependent(f"torch.{callee.__name__} of a list of tensors")
    if args and type(args[0]).__module__.partition(".")[0] == "numpy":
        raise Break("a NumPy array", "arrays are not captured", "make a tensor of it outside")
    data = _rows(capture.opened(args[0])) if len(args) == 1 and kwargs.keys() <= {"dtype", "device"} else None
    kinds = set(map(type, tree_flatten(data)[0]))
    if SymInt in kinds and kinds <= {int, SymInt}:
        return _of_integers(capture, data, {"dtype": torch_py.int64, **kwargs})
    return function(capture, callee, args, kwargs)


def _rows(data: Any) -> Any:
    """Lists in place of tuples and sizes inside of each other."""
    return list(map(_rows, data)) if isinstance(data, (list, tuple)) else data


def _of_integers(capture: Capture, data: Any, kwargs: Any) -> Any:
    """A tensor of integers, each of which is an input of the graph or a constant: native code, which makes
    tensors of data, would see the stand-ins."""
    if isinstance(data, int):
        return function(capture, torch_py.full, ((), data), kwargs)
    rows = [_of_integers(capture, row, kwargs) for row in data]
    return function(capture, torch_py.stack, (rows,), {})
