"""Operators, subscripts, iterators, truth and texts of objects of any kind: run natively, recorded as nodes
of the graph, or done by methods of the program."""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._C import Size
from torch_py._dynamo import torch_calls
from torch_py._dynamo.attributes import call_own, in_class
from torch_py._dynamo.exc import Break, data_dependent
from torch_py._dynamo.journal import ABSENT, Marker
from torch_py._dynamo.varying_arguments import has_reals, has_tensors, has_varying, map_tensors
from torch_py._shapes.numbers import VARYING, Held, SymSize, combined
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture
    from torch_py._dynamo.varying import Varying


END: Any = Marker("end")  # of an iterator, which has no more elements


def iterator_of(capture: Capture, value: Any) -> Any:
    """``iter(value)``."""
    if isinstance(value, Tensor):
        if value.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        _fix_length(capture, value)
        parts = capture.recorder.call("call_method", "unbind", (value,), {}, lambda x: x.unbind())
        return capture.made(iter(parts))
    if is_native_iterator(value):
        return value

    found = call_own(capture, value, "__iter__")
    if found is not ABSENT:
        return found
    kind = type(value)
    if in_class(kind, "__iter__") is ABSENT and type(in_class(kind, "__getitem__")) is FunctionType:
        return capture.call(Sequence.__iter__, (value,), {})
    value = capture.opened(value) if kind is tuple else value
    capture.use(value)
    return capture.made(iter(value))


def _fix_length(capture: Capture, value: Tensor) -> None:
    """Fixes the number of rows of a tensor: a loop over it has one step for each."""
    length = capture.call(len, (value,), {})
    if type(length) in VARYING:
        capture.varying.sizes.fix_symbols(length)
        raise Break("a loop over a tensor", "the number of rows was taken for variable")


def is_native_iterator(value: Any) -> bool:
    kind = type(value)
    is_native = hasattr(kind, "__next__") and type(in_class(kind, "__next__")) is not FunctionType
    return is_native or getattr(kind, "is_interpreted_generator", False)


def next_of(capture: Capture, iterator: Any, default: Any) -> Any:
    """The next element; `default` at the end."""
    if not is_native_iterator(iterator):
        try:
            found = call_own(capture, iterator, "__next__")
        except StopIteration:
            return default
        if found is not ABSENT:
            return found
    refuse_foreign(capture, iterator)
    capture.acts()
    value = next(iterator, default)
    return value if value is default else capture.result(value)


def rest_of(capture: Capture, iterator: Any) -> Iterator[Any]:
    """The elements that an iterator has left."""
    while (element := next_of(capture, iterator, END)) is not END:
        yield element


def refuse_foreign(capture: Capture, value: Any) -> None:
    """Has to be called before native code, or a native iterator, may advance `value` or what it contains."""
    for iterator in value if type(value) in (list, tuple) else (value,):
        if is_native_iterator(iterator) and capture.origin_of(iterator) is not None:
            why = "it existed before the call, and its state cannot be put back"
            raise Break(f"advancing an iterator ({type(iterator).__name__})", why, "iterate over a list")


def truth(capture: Capture, value: Any, /) -> bool:
    """``bool(value)``."""
    kind = type(value)
    if kind is bool:
        return value
    if isinstance(value, Tensor):
        return truth_of_tensor(capture, value)
    if kind in VARYING:
        return bool(value)

    for name in ("__bool__", "__len__"):
        found = call_own(capture, value, name)
        if found is not ABSENT:
            return truth(capture, found)
    capture.use_length(value)
    return bool(value)


def truth_of_tensor(capture: Capture, value: Tensor) -> bool:
    constant = capture.recorder.constant_of(value)
    if constant is not None and constant.numel() == 1:
        with capture.recorder.outside():
            return bool(constant)
    if value.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    raise data_dependent("a branch on a tensor")


_CONVERSIONS = {1: str, 2: repr, 3: ascii}


def formatted(capture: Capture, conversion: int, value: Any, specification: Any = None) -> Any:
    """What an f-string makes of a value. Without a specification (None) only the conversion is done."""
    if conversion:
        value = text_of(capture, _CONVERSIONS[conversion], value)
    if specification is None or (type(value) is str and not specification):
        return value
    return text_of(capture, format, value, specification)


def text_of(capture: Capture, function: Any, value: Any, *rest: Any) -> str:
    """``str(value)``, ``repr(value)``, ``format(value, ...)``, ``ascii(value)``."""
    if has_tensors(value):
        raise data_dependent("the text of a tensor")
    kind = type(value)
    names = {str: ("__str__", "__repr__"), repr: ("__repr__",), ascii: ("__repr__",), format: ("__format__",)}
    for name in names[function]:
        text = call_own(capture, value, name, *rest)
        if text is not ABSENT:
            return text  # type: ignore[no-any-return]
    if function is format and kind.__format__ is object.__format__ and not any(rest):
        return text_of(capture, str, value)
    capture.use_fields(value)
    return function(value, *rest)


_NUMBERS = frozenset({int, float, bool, complex, str, type(None), *VARYING})
_SETS: tuple[type, ...] = (set, frozenset, dict, type({}.keys()), type({}.items()))
_LISTS = (list, tuple, type({}.values()))
_SWAPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


def binary(capture: Capture, function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """``left + right``, ``left < right``, and the other operators of two operands."""
    if type(left) in _NUMBERS and type(right) in _NUMBERS:
        return combined(function, left, right)
    is_format = isinstance(left, (str, bytes)) and function in (operator.mod, operator.imod)
    if (isinstance(left, Tensor) or isinstance(right, Tensor)) and not is_format:
        if _is_torch_value(left) and _is_torch_value(right):
            return _of_tensors(capture, function, left, right)

    name = function.__name__.rstrip("_")
    found = _by_methods(capture, name, left, right)
    if found is not NotImplemented:
        return found
    if name in _SWAPPED:
        capture.use_fields(left, right)
        if capture.varying.places and has_reals([left, right]):
            left, right = map_tensors((left, right), capture.varying.fixed)
        return capture.result(function(left, right))

    if is_format:
        capture.use_fields(right)
    left, right = _with_varying(capture.varying, is_format, left, right)
    if name == "iadd" and isinstance(left, list):
        capture.grow(left)
    else:
        if name.startswith("i"):  # in place
            capture.change(left)
        capture.use(left)
    capture.use(right)
    if name in ("mul", "imul"):  # a number of repetitions
        capture.use_fields(*(value for value in (left, right) if not isinstance(value, (list, tuple))))
    elif isinstance(left, _SETS) and isinstance(right, _SETS):
        capture.use_fields([*left, *right])
    return capture.result(function(capture.as_number(left), capture.as_number(right)))


def _of_tensors(capture: Capture, function: Callable[..., Any], *operands: Any) -> Any:
    """An operator as a node of the graph. A program may replace the methods of Tensor behind it."""
    name = function.__name__.rstrip("_")
    capture.depends_on_class(Tensor, f"__{name}__")
    if not isinstance(operands[0], Tensor):
        capture.depends_on_class(Tensor, _reflected(name))
    return capture.recorder.call("call_function", function, operands, {}, function)


def _with_varying(varying: Varying, is_format: bool, left: Any, right: Any) -> tuple[Any, Any]:
    """The operands, where native code would take numbers that vary for their bits."""
    if is_format:
        return left, map_tensors(right, varying.fixed)
    if type(left) is Size and has_varying(right):
        left = SymSize(left)
    elif type(right) is Size and has_varying(left):
        right = SymSize(right)
    return left, right


def _is_torch_value(value: Any) -> bool:
    """Whether an operator with a tensor on the other side is the tensor's."""
    if isinstance(value, Tensor) or type(value) in _NUMBERS:
        return True
    methods = [in_class(type(value), f"__{name}__") for name in ("radd", "rmul", "add", "mul")]
    return not any(type(method) is FunctionType for method in methods)


def _by_methods(capture: Capture, name: str, left: Any, right: Any) -> Any:
    """The result of a method of the program; NotImplemented without one."""
    plain = name.removeprefix("i")
    attempts = [(f"__{plain}__", left, right)]
    is_other = type(right) is not type(left)
    if is_other or name in _SWAPPED:
        comes_first = is_other and issubclass(type(right), type(left))
        attempts.insert(0 if comes_first else 1, (_reflected(plain), right, left))
    if plain != name:
        attempts.insert(0, (f"__{name}__", left, right))

    for attempt in attempts:
        found = _method_result(capture, *attempt)
        if found is not NotImplemented:
            return found
    if name == "ne":
        equal = _method_result(capture, "__eq__", left, right)
        return equal if equal is NotImplemented else not capture.truth(equal)
    return NotImplemented


def _reflected(name: str) -> str:
    """The method of the right operand."""
    return f"__{_SWAPPED.get(name, 'r' + name)}__"


def _method_result(capture: Capture, name: str, owner: Any, *operands: Any) -> Any:
    found = ABSENT if isinstance(owner, Tensor) else call_own(capture, owner, name, *operands)
    return NotImplemented if found is ABSENT else found


def is_same(capture: Capture, left: Any, right: Any, /) -> bool:
    capture.tells_apart(left, right)
    capture.is_same_as_before(left, right)
    if type(left) is type(right) is Held and left is not right:
        left.refuse()  # they may be one object
    return left is right


def unary(capture: Capture, function: Callable[[Any], Any], value: Any) -> Any:
    if function is operator.not_:
        return not capture.truth(value)
    if isinstance(value, Tensor):
        return _of_tensors(capture, function, value)
    found = _method_result(capture, f"__{function.__name__.rstrip('_')}__", value)
    return capture.result(function(value)) if found is NotImplemented else found


def contains(capture: Capture, container: Any, value: Any, /) -> bool:
    if isinstance(container, Tensor):
        raise data_dependent("a search in a tensor")
    found = _method_result(capture, "__contains__", container, value)
    if found is not NotImplemented:
        return capture.truth(found)
    is_iterator = is_native_iterator(container)
    if is_iterator or type(in_class(type(container), "__iter__")) is FunctionType:
        return _is_among(capture, container, value)
    if isinstance(container, dict):
        return capture.read_key(container, value) is not ABSENT

    has_numbers = capture.varying.places and isinstance(container, _LISTS) and has_reals([*container])
    if has_numbers or (isinstance(container, (list, tuple)) and has_tensors([*container, value])):
        return _is_among(capture, container, value)
    capture.use_fields(container, value)
    if isinstance(container, (str, bytes)):
        value = capture.as_number(value)
    if isinstance(value, Tensor):
        value = capture.key_in(container, value)
    return value in container


def _is_among(capture: Capture, container: Any, value: Any) -> bool:
    for element in rest_of(capture, iterator_of(capture, container)):
        is_itself = capture.plain(element) is capture.plain(value)
        if is_itself or capture.truth(binary(capture, operator.eq, element, value)):
            return True
    return False


# Subscripts


def subscript(capture: Capture, owner: Any, key: Any, /) -> Any:
    """``owner[key]``."""
    if isinstance(owner, Tensor):
        capture.use_fields(key)
        return capture.recorder.call("call_function", operator.getitem, (owner, key), {}, operator.getitem)
    key = capture.as_number(key)
    if isinstance(key, Tensor):
        key = key if isinstance(owner, dict) else torch_calls.method(capture, key, "__index__", (), {})
    value = call_own(capture, owner, "__getitem__", key)
    if value is not ABSENT:
        return value

    if isinstance(owner, dict):
        return entry(capture, owner, key)
    if isinstance(owner, (list, tuple)) and type(key) is int:
        return capture.read_item(owner, key)
    capture.use(owner)
    capture.use_fields(key)
    return capture.result(owner[key])


def entry(capture: Capture, owner: dict[Any, Any], key: Any) -> Any:
    """What ``dict.__getitem__`` gives, for a missing key with the help of the class."""
    value = capture.read_key(owner, key)
    if value is not ABSENT:
        return value
    value = call_own(capture, owner, "__missing__", key)
    if value is not ABSENT:
        return value
    factory = capture.read_native(owner, "default_factory") if isinstance(owner, defaultdict) else None
    if factory is None:
        raise KeyError(key)
    made = capture.call(factory, (), {})
    capture.write_key(owner, key, made)
    return made


def store_subscript(capture: Capture, owner: Any, key: Any, value: Any, /) -> None:
    """``owner[key] = value``."""
    if isinstance(owner, Tensor):
        capture.use_fields(key)
        capture.recorder.call("call_function", operator.setitem, (owner, key, value), {}, operator.setitem)
        return

    if call_own(capture, owner, "__setitem__", key, value) is not ABSENT:
        return
    if isinstance(owner, dict):
        capture.write_key(owner, key, value)
    else:
        if isinstance(key, Tensor):
            key = torch_calls.method(capture, key, "__index__", (), {})
        capture.change(owner)
        capture.use(value)
        capture.use_fields(key)
        owner[key] = value


def delete_subscript(capture: Capture, owner: Any, key: Any, /) -> None:
    if call_own(capture, owner, "__delitem__", key) is not ABSENT:
        return
    if isinstance(owner, dict):
        capture.write_key(owner, key, ABSENT)
    else:
        capture.change(owner)
        capture.use_fields(key)
        del owner[key]
