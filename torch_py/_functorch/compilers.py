"""Compilers for `aot_function` that generate nothing, and helpers for those that do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from torch_py._C import TensorBase
from torch_py._functorch.aot import aot_function, aot_module, min_cut_rematerialization_partition
from torch_py._functorch.aot.recipes import as_base
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx.graph import _BoxedCodeGen
from torch_py.fx.graph_module import GraphModule
from torch_py.nn.modules.module import Module


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


def boxed_nop(fx_g: GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
    """Runs the graph as it is, on a list of arguments: each is freed after its last use.

    Results are tensors of their own, as those of kernels are, not views of what the graph alone knows.
    """
    fx_g.graph.set_codegen(_BoxedCodeGen())
    fx_g.recompile()

    def run(args: list[Any]) -> Any:
        # Known by their ids, so that arguments can be freed; None is the base of a tensor that is not a view.
        outside = {id(memory) for x in args if isinstance(x, TensorBase) for memory in (x, x._base)}
        outside.add(id(None))
        results = fx_g.forward(args)  # without the hooks of all modules
        is_hidden = (isinstance(x, TensorBase) and id(x._base) not in outside for x in results)
        return [as_base(x) if hidden else x for x, hidden in zip(results, is_hidden)]

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def print_compile(fx_g: GraphModule, _: Sequence[Any]) -> Callable[..., Any]:
    """Prints the graph and returns it."""
    print(fx_g.code)
    return fx_g


def memory_efficient_fusion(fn: Any, **kwargs: Any) -> Any:
    """A function or module that keeps the least memory for its backward, and computes the rest again.

    `kwargs` are those of `aot_function`; compilers that are not given run the graph as it is.
    """
    options = {"fw_compiler": nop, "partition_fn": min_cut_rematerialization_partition} | kwargs
    return aot_module(fn, **options) if isinstance(fn, Module) else aot_function(fn, **options)


__getattr__ = _lacking(__name__)
