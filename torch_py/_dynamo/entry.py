"""Compiled functions: what `torch.compile` returns for functions, modules, methods and other callables."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from inspect import Parameter, Signature
from types import FunctionType, MethodType
from typing import Any

from torch_py._C._compiler import CompiledFunction
from torch_py._dynamo import config
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.conversion import Settings
from torch_py._dynamo.convert import Compiler
from torch_py._dynamo.decode.instructions import signature_of
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


def as_function(target: Callable[..., Any]) -> FunctionType:
    """A function that calls `target`, with the parameters that it has in Python; a function is its own.

    The target is a global of the new function, so that it is a particular object to compiled code.
    """
    if isinstance(target, FunctionType):
        return target

    signature, bound = _signature_of(target)
    module = getattr(target, "__module__", None) or "compiled"
    namespace: dict[str, Any] = {"target": target, "__name__": module}
    exec(compile(_text(signature, bound), "<call of a compiled object>", "exec"), namespace)
    made: FunctionType = namespace["call"]
    defaults = signature.__defaults__ or ()
    made.__defaults__ = defaults[bound:] if len(defaults) == signature.__code__.co_argcount else defaults
    made.__kwdefaults__ = signature.__kwdefaults__
    if not isinstance(target, Module):
        functools.update_wrapper(made, target)
    made.__qualname__ = getattr(target, "__qualname__", type(target).__name__)
    return made


def _anything(*arguments: Any, **keywords: Any) -> None:
    """Has the parameters of callables that do not tell theirs."""


def _signature_of(target: Any) -> tuple[Any, bool]:
    """A function with the parameters of `target`, and whether the first of them is bound."""
    if isinstance(target, MethodType) and isinstance(target.__func__, FunctionType):
        is_module_call = target.__func__ is Module._call_impl
        return _signature_of(target.__self__) if is_module_call else (target.__func__, True)
    if isinstance(target, Module):
        found = None if "forward" in vars(target) else getattr(type(target), "forward", None)
    else:
        found = in_class(type(target), "__call__")
    return (found, True) if isinstance(found, FunctionType) else (_anything, False)


# How arguments are passed on, other than by position.
_FORMS = {Parameter.VAR_POSITIONAL: "*{0}", Parameter.KEYWORD_ONLY: "{0}={0}", Parameter.VAR_KEYWORD: "**{0}"}


def _text(signature: FunctionType, bound: bool) -> str:
    """The definition of a function with these parameters, which passes them on."""
    code = signature.__code__
    parameters = list(signature_of(code).parameters.values())
    if bound and code.co_argcount:  # unlike ``def method(*arguments)``
        del parameters[0]
    arguments = ", ".join(_FORMS.get(one.kind, "{0}").format(one.name) for one in parameters)

    # A parameter may be called as the target is.
    callee = "target" if "target" not in code.co_varnames else "globals()['target']"
    return f"def call{Signature(parameters)}:\n    return {callee}({arguments})\n"
