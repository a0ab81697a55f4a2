"""What is known about native code and libraries: whose it is, what is pure, what cannot be captured."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import sys
import types
import weakref
from typing import Any

import torch_py
from torch_py import _C
from torch_py._dynamo.exc import Break, unsupported_call
from torch_py._libraries import library_named

# Classes whose objects native code makes, and that do nothing else.
PURE_CLASSES: frozenset[type] = frozenset(
    (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, range, slice,
        enumerate, filter, map, reversed, zip, object, property, classmethod, staticmethod, super, type,
        collections.OrderedDict, collections.defaultdict, collections.deque, functools.partial, weakref.ref,
        types.GenericAlias, types.MappingProxyType, types.MethodType, types.SimpleNamespace,
        _C.Size, _C.device, _C.finfo, _C.iinfo,
        operator.attrgetter, operator.itemgetter, operator.methodcaller,
        *(kind for kind in vars(itertools).values() if getattr(kind, "__module__", "") == "itertools"),
    )
)  # fmt: skip

# Modules whose functions depend on their arguments only.
PURE_MODULES = frozenset(
    "builtins math cmath _operator operator itertools _functools _collections _bisect _heapq _struct _string "
    "_abc _stat _sre _json _typing _weakref _contextvars".split()
)
# Functions of `builtins` that act outside, or need the frame that calls them.
BREAKING_BUILTINS = {
    "print": "it writes to a file",
    "input": "it reads from a file",
    "open": "it opens a file",
    "exec": "it runs code that is not known before",
    "eval": "it runs code that is not known before",
    "compile": "it compiles code",
    "breakpoint": "it starts a debugger",
    "locals": "it shows the variables of a frame",
    "dir": "it lists attributes",
    "__import__": "it imports a module",
}


def by_name(reasons: dict[str, str]) -> dict[str, str]:
    """The reason for each name, of reasons with their names."""
    return {name: reason for reason, names in reasons.items() for name in names.split()}


# Modules of the library of Python whose functions act outside, or give other answers each time.
BREAKING_MODULES = by_name(
    {
        "the answer is another one each time": "time",
        "random numbers of Python are not captured": "random",
        "it writes a log": "logging",
        "it may print a warning": "warnings",
        "it asks the operating system": "os posix",
        "it reads or writes a file": "io _io",
        "threads are not captured": "threading concurrent",
        "event loops are not captured": "asyncio",
        "processes are not captured": "multiprocessing",
        "it waits for events": "selectors",
        "it changes what the process does with signals": "signal",
        "it starts a program": "subprocess",
        "it uses the network": "socket",
        "it starts a debugger": "pdb",
        "it looks at frames or source": "inspect",
        "it looks at frames": "traceback",
        "it looks at all objects": "gc",
        "it writes objects as bytes": "pickle",
    }
)

# Functions of these modules that only look at data: what `os.environ` has is in a dictionary.
_HARMLESS = (
    "catch_warnings", "Signature.", "Parameter.", "getenv", "_Environ.__getitem__", "_Environ.__len__",
    "_Environ.__iter__", "_createenviron.",
)  # fmt: skip


def reason_against_module(function: types.FunctionType) -> Break | None:
    """Why functions of a module are not interpreted."""
    module = module_of(function)
    why = BREAKING_MODULES.get(module.partition(".")[0])
    if why is not None and not function.__qualname__.startswith(_HARMLESS):
        return unsupported_call(f"{module}.{function.__qualname__}", why)

    # Most of torch's Python code is interpreted, except what acts on tensors or files outside the graph.
    if module in _CAPTURED_TORCH or function.__name__ in _QUESTIONS:
        return None
    name = f"{module}.{function.__qualname__}"
    for prefix, why in _UNCAPTURED_TORCH.items():
        if name.startswith(f"torch_py.{prefix}"):
            return unsupported_call(name.replace("torch_py", "torch", 1), why)
    return None


# Exceptions, which are interpreted: calls of graph modules, and questions about state.
_CAPTURED_TORCH = ("torch_py.fx.graph_module",)
_QUESTIONS = ("is_available", "is_initialized", "current_group")

_UNCAPTURED_TORCH = by_name(
    {
        "it changes the state of random numbers": "random",
        "it belongs to the compiler": "_dynamo compiler._compile compiler._functions compiler._stance",
        "its result holds on to the graph of autograd": "_functorch.reverse_mode _functorch.forward_mode",
        "it traces programs itself": "fx export",
        "it reads or writes a file": "serialization",
        "it measures": "profiler",
        "it sets gradients": "nn.modules.module.Module.zero_grad optim.optimizer.Optimizer.zero_grad",
        "it loads data": "utils.data",
        "backward runs the function again, operator by operator": (
            "utils.checkpoint._recomputation utils.checkpoint._reentrant"
        ),
        "processes are not captured": "multiprocessing",
        "communication is not captured": "distributed",
        "it needs the values of tensors": "_tensor_str",
    }
)


def module_of(value: Any) -> str:
    """The module of a function or class: "torch_py.nn" for "torch.nn" where these are the same; "" if
    unknown."""
    name = getattr(value, "__module__", None)
    return own_name(name) if isinstance(name, str) else ""


def own_name(name: str) -> str:
    """Our name of a module that may go by its alias."""
    root, _, rest = name.partition(".")
    if root != "torch" or sys.modules.get("torch") is not torch_py:
        return name
    return f"torch_py.{rest}" if rest else "torch_py"


def is_of_torch(value: Any) -> bool:
    """Whether a function, class or module is part of this library, or of a package of operators."""
    name = own_name(value.__name__) if isinstance(value, types.ModuleType) else module_of(value)
    return name.partition(".")[0] == "torch_py" or library_named(name) is not None


def is_operator(callee: Any) -> bool:
    """Whether a function of C is an operator, of the tree or of a package."""
    # Other functions of the tree belong to their module.
    is_own = is_of_torch(callee) and getattr(callee, "__self__", callee) is None
    return is_own or library_named(module_of(callee)) is not None


def is_of_python(module: str) -> bool:
    """Whether a module comes with Python."""
    return module.partition(".")[0] in sys.stdlib_module_names
