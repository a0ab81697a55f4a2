"""Compiled functions: what `torch.compile` returns."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

from torch_py._C._compiler import CompiledFunction
from torch_py._dynamo import config
from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.conversion import Settings
from torch_py._dynamo.convert import Compiler
from torch_py._dynamo.forwarding import as_function
from torch_py._dynamo.utils import counters
from torch_py.compiler._optimized_module import OptimizedModule
from torch_py.nn.modules.module import Module

_all: weakref.WeakSet[Any] = weakref.WeakSet()


def compile_callable(
    target: Callable[..., Any],
    *,
    backend: Any = "inductor",
    fullgraph: bool = False,
    dynamic: bool | None = None,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Any:
    """A function that runs compiled code where its guards pass."""
    settings = Settings(lookup_backend(backend), fullgraph, dynamic, _options_for(backend, mode, options))
    return compile_with(target, settings)


def compile_with(target: Callable[..., Any], settings: Settings) -> Any:
    """The same with settings that have been put together."""
    function = as_function(_not_compiled(target))
    compiler = Compiler(function, settings)
    compiled = CompiledFunction(function, compiler.miss, config.recompile_limit)
    compiled._compiler = compiler  # refers to the function, which may lead back to here
    _all.add(compiled)
    return compiled


def _not_compiled(target: Any) -> Any:
    """What a compiled function was made of; for a method that is bound to an object, too."""
    inner = getattr(target, "_torchdynamo_orig_callable", target)
    is_bound = isinstance(target, MethodType) and inner is not target
    return MethodType(inner, target.__self__) if is_bound else inner


def _options_for(backend: Any, mode: str | None, options: dict[str, Any] | None) -> dict[str, Any]:
    """What a backend gets in addition to the graph: only what the caller has given."""
    if backend != "inductor" and not callable(backend):
        return {}
    given = {"mode": None if mode == "default" else mode, "options": options}
    return {name: value for name, value in given.items() if value}


def optimize(
    backend: Any = "inductor",
    *,
    nopython: bool = False,
    disable: bool = False,
    dynamic: bool | None = None,
    **options: Any,
) -> Callable[[Any], Any]:
    """The older form of `torch.compile`: returns a decorator. `nopython` is `fullgraph`."""
    compile_one = functools.partial(compile_callable, backend=backend, fullgraph=nopython, dynamic=dynamic)

    def decorate(target: Any) -> Any:
        if disable:
            return target
        return OptimizedModule(target, compile_one) if isinstance(target, Module) else compile_one(target)

    return decorate


def reset() -> None:
    """Drops all compiled code and the counters; functions are compiled anew when they are called."""
    for compiled in list(_all):
        compiled.clear()
        compiled._compiler.forget()
    counters.clear()


reset_code_caches = reset
