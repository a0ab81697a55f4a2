"""Compilers for `aot_function` that generate nothing, and helpers for those that do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx.graph_module import GraphModule


def make_boxed_func(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its arguments in one list, which it may empty to free them."""

    @functools.wraps(f)
    def boxed(args: list[Any]) -> Any:
        return f(*args)

    boxed._boxed_call = True  # type: ignore[attr-defined]
    return boxed


def make_boxed_compiler(compiler: Callable[..., Any]) -> Callable[..., Any]:
    """A compiler whose functions get their arguments in one list."""

    @functools.wraps(compiler)
    def boxed(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return make_boxed_func(compiler(graph, inputs))

    return boxed


def nop(fx_g: GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
    """Returns the graph as it is."""
    return fx_g


def print_compile(fx_g: GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
    """Prints the graph and returns it."""
    print(fx_g.code)
    return fx_g


__getattr__ = _lacking(__name__)
