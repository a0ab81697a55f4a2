"""`torch.fx`, the capture of graphs, of which torch_py has the names only: uses raise NotImplementedError."""

from __future__ import annotations

from typing import Any, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.modules.module import Module as _Module

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]


def refuse(name: str) -> NoReturn:
    raise NotImplementedError(f"torch.fx.{name}: torch_py does not capture graphs of programs yet")


class _Absent:
    __refuses__ = True  # read by tools.names

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        refuse(type(self).__name__)


class Graph(_Absent):
    pass


class Node(_Absent):
    pass


class Proxy(_Absent):
    pass


class Tracer(_Absent):
    pass


class Interpreter(_Absent):
    pass


class Transformer(Interpreter):
    pass


class GraphModule(_Module):
    __refuses__ = True

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        refuse("GraphModule")


def symbolic_trace(root: Any, concrete_args: Any = None) -> NoReturn:
    refuse("symbolic_trace")


def replace_pattern(gm: Any, pattern: Any, replacement: Any) -> NoReturn:
    refuse("replace_pattern")


def wrap(fn_or_name: Any) -> Any:
    """Marks a function, or the name of one, as one operation of graphs: returns it unchanged.

    Raises RuntimeError for anything but a function or a name.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    return fn_or_name


def has_side_effect(fn: Any) -> Any:
    """Marks a function as one that graphs must keep: returns it unchanged."""
    return fn


__getattr__ = _lacking(__name__)
