"""Runs programs eagerly and compiled, and compares all that can be seen of them."""

from __future__ import annotations

import contextlib
import copy
import io
from collections import deque
from typing import Any

import torch_py as torch
from torch_py._dynamo.testing import CompileCounter


def equal(a: Any, b: Any) -> bool:
    """Equal values of equal types, also inside of containers and objects."""
    if type(a) is not type(b):
        return False
    if isinstance(a, torch.Tensor):
        same = a.dtype == b.dtype and a.stride() == b.stride() and a.requires_grad == b.requires_grad
        return same and torch.equal(a, b)
    if isinstance(a, (list, tuple, deque)):
        return len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, BaseException):
        return equal(a.args, b.args)
    if hasattr(a, "__dict__") and not callable(a):
        return equal(vars(a), vars(b))
    return a == b or callable(a)


def observed(function: Any, args: Any) -> Any:
    """What a call returns or raises, what became of its arguments, and what it printed."""
    args = copy.deepcopy(args)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = ("returned", function(*args))
        except Exception as error:
            result = ("raised", error)
    return result, args, printed.getvalue()


def check(function: Any, *args: Any, graphs: int | None = None, fullgraph: bool = True) -> CompileCounter:
    """A compiled function does what it does, in its first call and in the next. Gives the counter of
    graphs."""
    counter = CompileCounter()
    compiled = torch.compile(function, backend=counter, fullgraph=fullgraph)
    expected = observed(function, args)
    for _ in range(2):
        actual = observed(compiled, args)
        assert equal(expected, actual), f"\nexpected {expected}\nactual   {actual}"
    if graphs is not None:
        assert counter.frame_count == graphs
    return counter
