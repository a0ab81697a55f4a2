"""What is known about native code and libraries: what is pure, what cannot be captured, and why."""

from __future__ import annotations

import collections
import functools
import itertools
import operator
import types
import weakref
from types import FunctionType

from torch_py import _C
from torch_py._dynamo.breaks import Break, unsupported_call
from torch_py._dynamo.torch_modules import module_of

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
# Modules of the library of Python whose functions act outside, or give other answers each time.
BREAKING_MODULES = {
    "time": "the answer is another one each time",
    "random": "random numbers of Python are not captured",
    "logging": "it writes a log",
    "warnings": "it may print a warning",
    "os": "it asks the operating system",
    "posix": "it asks the operating system",
    "io": "it reads or writes a file",
    "_io": "it reads or writes a file",
    "threading": "threads are not captured",
    "asyncio": "event loops are not captured",
    "concurrent": "threads are not captured",
    "multiprocessing": "processes are not captured",
    "selectors": "it waits for events",
    "signal": "it changes what the process does with signals",
    "subprocess": "it starts a program",
    "socket": "it uses the network",
    "pdb": "it starts a debugger",
    "inspect": "it looks at frames or source",
    "traceback": "it looks at frames",
    "gc": "it looks at all objects",
    "pickle": "it writes objects as bytes",
}


# Functions of these modules that only look at data: what `os.environ` has is in a dictionary.
_HARMLESS = (
    "catch_warnings", "Signature.", "Parameter.", "getenv", "_Environ.__getitem__", "_Environ.__len__",
    "_Environ.__iter__", "_createenviron.",
)  # fmt: skip


def reason_against_module(function: FunctionType) -> Break | None:
    """Why functions of a module are not interpreted."""
    module = module_of(function)
    top = module.partition(".")[0]
    why = BREAKING_MODULES.get(top)
    if why is not None and not function.__qualname__.startswith(_HARMLESS):
        return unsupported_call(f"{module}.{function.__qualname__}", why)
    if module.startswith("torch_py."):
        return _reason_in_torch(module, function)
    return None


def _reason_in_torch(module: str, function: FunctionType) -> Break | None:
    """Most of torch's Python code is interpreted, except what acts on tensors or files outside the graph."""
    if module in _CAPTURED_TORCH or function.__name__ in _QUESTIONS:
        return None
    for prefix, why in _UNCAPTURED_TORCH.items():
        if module.startswith(prefix):
            return unsupported_call(f"{module.replace('torch_py', 'torch', 1)}.{function.__qualname__}", why)
    return None


# Exceptions, which are interpreted: calls of graph modules, and questions about state.
_CAPTURED_TORCH = ("torch_py.fx.graph_module",)
_QUESTIONS = ("is_available", "is_initialized", "current_group")

_UNCAPTURED_TORCH = {
    "torch_py.random": "it changes the state of random numbers",
    "torch_py._dynamo": "it belongs to the compiler",
    "torch_py.compiler._compile": "it belongs to the compiler",
    "torch_py.compiler._functions": "it belongs to the compiler",
    "torch_py.compiler._stance": "it belongs to the compiler",
    "torch_py.autograd.engine": "it runs the engine of autograd",
    "torch_py.autograd.gradient": "it runs the engine of autograd",
    "torch_py._functorch.reverse_mode": "its result holds on to the graph of autograd",
    "torch_py._functorch.forward_mode": "its result holds on to the graph of autograd",
    "torch_py.fx": "it traces programs itself",
    "torch_py.export": "it traces programs itself",
    "torch_py.serialization": "it reads or writes a file",
    "torch_py.profiler": "it measures",
    "torch_py.utils.data": "it loads data",
    "torch_py.utils.checkpoint._recomputation": "backward runs the function again, operator by operator",
    "torch_py.utils.checkpoint._reentrant": "backward runs the function again, operator by operator",
    "torch_py.multiprocessing": "processes are not captured",
    "torch_py.distributed": "communication is not captured",
    "torch_py._tensor_str": "it needs the values of tensors",
}
