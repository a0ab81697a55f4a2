"""The functions, methods and attributes that saved graphs of scripted code may name."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import torch_py
from torch_py.fx._expressions import magic_methods
from torch_py.fx._symbolic_trace import _assert_is_none

ATTRIBUTES = (
    "shape",
    "dtype",
    "device",
    "ndim",
    "T",
    "mT",
    "H",
    "mH",
    "real",
    "imag",
    "requires_grad",
    "is_cuda",
)


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """The functions that saved graphs may call, by name: those of torch that take tensors, and of Python
    arithmetic."""
    # Imported on first use: it reads all modules of functions.
    from torch_py._overridable import overridable_functions

    found: dict[str, Callable[..., Any]] = {}
    for names in overridable_functions()[1:]:
        for function, name in names.items():
            if callable(function) and not name.startswith("torch.Tensor") and not _opens_files(name):
                found[name] = function
    found.update(
        {f"operator.{name}": getattr(operator, name) for name in magic_methods if hasattr(operator, name)}
    )
    found.update(
        {f"operator.{name}": getattr(operator, name) for name in ("iadd", "isub", "imul", "itruediv")}
    )
    found.update(
        {f"math.{name}": getattr(math, name) for name in ("sqrt", "ceil", "floor", "log", "exp", "prod")}
    )
    found.update(
        {name: getattr(builtins, name) for name in ("getattr", "max", "min", "int", "float", "abs", "round")}
    )
    found["torch.finfo"] = torch_py.finfo
    found["_assert_is_none"] = _assert_is_none  # of arguments that are None by default
    return found


def _opens_files(name: str) -> bool:
    """Whether a function of torch is about files, processes or settings rather than tensors."""
    module, _, own = name.rpartition(".")
    known = ("torch", "torch.nn.functional", "torch.linalg", "torch.fft", "torch.special", "torch.functional")
    return module not in known or own in ("from_file", "load", "save", "compile")


@cache
def methods() -> frozenset[str]:
    """The methods of tensors that saved graphs may call."""
    # Imported on first use, as in `functions`.
    from torch_py._overridable import overridable_functions

    names = (name for found in overridable_functions()[1:] for name in found.values())
    methods = {name.rpartition(".")[2] for name in names if name.startswith("torch.Tensor")}
    return frozenset(name for name in methods if not name.startswith("_"))


def name_of_function(function: Any) -> str | None:
    """The name of a function that saved graphs may call; None for all others."""
    return next((name for name, known in functions().items() if known is function), None)
