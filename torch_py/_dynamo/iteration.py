"""Iterators and truth."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from torch_py._dynamo.attributes import call_own, in_class
from torch_py._dynamo.breaks import Break, data_dependent
from torch_py._dynamo.journal import ABSENT, Marker
from torch_py._shapes.integers import VARYING
from torch_py._tensor import Tensor

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture


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


def refuse_foreign(capture: Capture, value: Any) -> None:
    """Has to be called before native code, or a native iterator, may advance `value` or what it contains."""
    for iterator in value if type(value) in (list, tuple) else (value,):
        if is_native_iterator(iterator) and capture.origin_of(iterator) is not None:
            raise Break(
                f"advancing an iterator ({type(iterator).__name__})",
                "it existed before the call, and its state cannot be put back",
                "iterate over a list",
            )


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
