"""The recorded form of a program: its values, and the calls of operators that compute them."""

from __future__ import annotations

import ast
import functools
import linecache
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch_py
from torch_py import _C
from torch_py._ops import OpOverload
from torch_py._tensor import Tensor

_ROOT = os.path.dirname(torch_py.__file__) + os.sep
# Defaults in schemas that are names of numbers.
_NAMED_NUMBERS = {"Mean": 1, "Sum": 2}


@dataclass(frozen=True)
class Value:
    """A tensor that is computed during a run, by its number."""

    index: int


@dataclass(eq=False)
class Constant:
    """A tensor that existed before the run."""

    tensor: Tensor


@dataclass
class Facts:
    """The facts that a run recorded about a value."""

    shape: tuple[int, ...]
    dtype: _C.dtype
    data: Tensor | None  # kept if it does not depend on an input
    name: str | None = None  # for inputs and parameters


@dataclass(frozen=True)
class Origin:
    """Where the program called an operator."""

    module: str = ""  # the path of the module, "" for the model itself
    file: str = ""
    line: int = 0
    function: str = ""  # the function of torch that called the operator

    def __str__(self) -> str:
        """`` in linalg_inv, module 'encoder', file "model.py", line 12, "y = torch.linalg.inv(x)",``"""
        parts = [self.function] if self.function else []
        if self.module:
            parts.append(f"module '{self.module}'")
        if self.file:
            text = linecache.getline(self.file, self.line).strip()
            parts.append(f'file "{self.file}", line {self.line}' + (f', "{text}",' if text else ""))
        return f" in {', '.join(parts)}" if parts else ""


@dataclass
class Call:
    """A recorded call of an operator.

    The name is that of the operator that leaves its arguments as they are: `add` for `add_` and for
    ``add(out=...)``.
    """

    name: str
    overload: str  # "add_.Tensor"
    arguments: dict[str, Any]
    results: list[Value | None]
    origin: Origin = field(default_factory=Origin)
    is_random: bool = False


def pure_name(func: OpOverload) -> str:
    """The name of the operator that computes the same without writing to its arguments."""
    name = func._opname
    writes_in_place = name.endswith("_") and not name.endswith("__")
    return name[:-1] if writes_in_place else name


def bind(func: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name, with the defaults of the schema."""
    schema = func._schema.arguments
    given = dict(zip((argument.name for argument in schema), args)) | dict(kwargs)
    for argument in schema:
        if argument.name not in given:
            text = argument.default_text
            given[argument.name] = None if text is None else _default(text)
    return given


@functools.cache
def _default(text: str) -> Any:
    if text in _NAMED_NUMBERS:
        return _NAMED_NUMBERS[text]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(torch_py, text, text)  # long, contiguous_format


def origin_of_call(module: str, function: str) -> Origin:
    """The origin of a call that is made now, with the line of the program that called into torch_py."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ROOT):
        frame = frame.f_back
    return Origin(module, frame.f_code.co_filename, frame.f_lineno, function)


def leaves_of(tree: Any) -> list[Any]:
    """The leaves of `tree`, in order."""
    found: list[Any] = []
    mapped(found.append, tree)
    return found


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Applies `function` to every leaf of lists, tuples and dicts."""
    if isinstance(tree, (list, tuple)):
        parts = [mapped(function, part) for part in tree]
        return parts if isinstance(tree, list) else tuple(parts)
    if isinstance(tree, dict):
        return {key: mapped(function, part) for key, part in tree.items()}
    return function(tree)
