"""Texts of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch_py._dynamo.attributes import call_own
from torch_py._dynamo.breaks import data_dependent
from torch_py._dynamo.journal import ABSENT
from torch_py._dynamo.nested import has_tensors

if TYPE_CHECKING:
    from torch_py._dynamo.capture import Capture

_CONVERSIONS = {1: str, 2: repr, 3: ascii}


def formatted(capture: Capture, value: Any, conversion: int, specification: Any) -> Any:
    """What an f-string makes of a value. Without a specification (None) only the conversion is done."""
    if conversion:
        value = text_of(capture, _CONVERSIONS[conversion], value)
    if specification is None:
        return value
    if type(value) is str and not specification:
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
    capture.use(value)
    capture.use_fields(value)
    return function(value, *rest)
