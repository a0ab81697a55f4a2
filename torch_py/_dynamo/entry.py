"""Compiled functions: what `torch.compile` returns for functions, modules, methods and other callables, and
what happens when none of their code fits a call."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from inspect import Parameter, Signature
from types import FunctionType, MethodType
from typing import Any

from torch_py import _compiling
from torch_py._C._compiler import CompiledFunction
from torch_py._dynamo import config, logs
from torch_py._dynamo.attributes import in_class
from torch_py._dynamo.backends.registry import lookup_backend
from torch_py._dynamo.conversion import Conversion, Settings
from torch_py._dynamo.decode import ASYNCHRONOUS, GENERATOR, is_supported, signature_of
from torch_py._dynamo.exc import FailOnRecompileLimitHit, RecompileError, RecompileLimitExceeded, Unsupported
from torch_py._dynamo.failures import is_suppressed, warn
from torch_py._dynamo.resume import FunctionStart, ResumedStart, continuation_function
from torch_py._dynamo.transforms import is_transform
from torch_py._dynamo.utils import counters
from torch_py._dynamo.varying_policy import Policy
from torch_py._functorch.levels import level_of
from torch_py._logging.artifacts import compilation
from torch_py._tensor import Tensor
from torch_py.autograd.graph import _without_saved_tensors_hooks
from torch_py.compiler._stance import current
from torch_py.fx._collecting import without_garbage_collection
from torch_py.nn.modules.module import Module

_all: weakref.WeakSet[Any] = weakref.WeakSet()


def compile_callable(
    target: Callable[..., Any], backend: Any, fullgraph: bool, dynamic: bool | None, options: dict[str, Any]
) -> Any:
    """A function that runs compiled code where its guards pass. The backend gets `options`."""
    return compile_with(target, Settings(lookup_backend(backend), fullgraph, dynamic, options))


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


def reset() -> None:
    """Drops all compiled code and the counters; functions are compiled anew when they are called."""
    for compiled in list(_all):
        compiled.clear()
        compiled._compiler.forget()
    counters.clear()


reset_code_caches = reset


def as_function(target: Callable[..., Any]) -> FunctionType:
    """A function that calls `target`, with the parameters that it has in Python; a function is its own, but
    for those of transforms, which are captured where they are called.

    The target is a global of the new function, so that it is a particular object to compiled code.
    """
    if isinstance(target, FunctionType) and not is_transform(target):
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


# Calls that no code fits

_capturing = threading.local()  # `active` in a thread that captures
_MOST_FAILURES = 3  # of the compiler, after which a function runs eagerly for good


class Compiler:
    """Compiles one function, or the rest of one, for all the calls that come."""

    def __init__(
        self, function: FunctionType, settings: Settings, start: Any = None, continuations: Any = None
    ) -> None:
        self.function = function
        self.settings = settings
        self.start = start or FunctionStart(function)
        self.continuations: dict[Any, Any] = {} if continuations is None else continuations
        self.policy = Policy(settings.dynamic, not settings.fullgraph)
        self.has_run = False
        self.failures = 0

    def forget(self) -> None:
        """Starts afresh, as if there had been no calls."""
        self.policy = Policy(self.settings.dynamic, not self.settings.fullgraph)
        self.failures = 0
        self.continuations.clear()

    def continuation(self, start: ResumedStart) -> Any:
        """What goes on at a place where a graph ends; the continuations share it."""
        key = (tuple(layout.key() for layout in start.layouts), start.raises)
        if key not in self.continuations:
            function = continuation_function(start)
            compiler = Compiler(function, self.settings, start, self.continuations)
            self.continuations[key] = CompiledFunction(function, compiler.miss, config.recompile_limit)
        return self.continuations[key]

    def miss(self, compiled: Any, values: tuple[Any, ...], reasons: list[str]) -> Callable[..., Any]:
        """Called for arguments that no entry fits; gives what is called with them."""
        if getattr(_capturing, "active", False) or config.disable or not is_supported():
            return self.function
        if self.function.__code__.co_flags & (GENERATOR | ASYNCHRONOUS):  # which others run step by step
            why = "generators and asynchronous functions are not compiled"
            logs.not_captured(self.function.__qualname__, why)
            return self.function
        if self.failures >= _MOST_FAILURES or self._stance_forbids(reasons):
            return self.function
        if any(isinstance(value, Tensor) and level_of(value) > 0 for value in values):
            return self.function  # a transform around compiled code needs the operators

        with _compiling.lock:
            if len(compiled.entries) != len(reasons):
                # Other threads have compiled while this one waited.
                found = next((e.code for e in compiled.entries if e.guards.check(values) is None), None)
                if found is not None:
                    return found  # type: ignore[no-any-return]

            if len(compiled.entries) >= config.recompile_limit:
                self._reach_limit(reasons)
                return self.function
            if reasons:
                reason = " ".join(reasons[0].split())  # in one line, whatever it quotes
                logs.recompiles.debug("recompiling %s: %s", self.function.__qualname__, reason)
            compiled.limit = config.recompile_limit
            program, code = self._converted(values)
            if program is None:
                self.failures += 1
            elif (problem := program.check(values)) is not None:
                # Such as arguments that overlap with different histories: no code is for them.
                logs.not_captured(self.function.__qualname__, problem)
                self.failures += 1
                return self.function
            else:
                compiled.add(program, code or self.function)
        return code or self.function

    def _reach_limit(self, reasons: list[str]) -> None:
        most = f"torch._dynamo.config.recompile_limit allows ({config.recompile_limit})"
        limit = f"{self.function.__qualname__} has as many pieces of code as {most}"
        last = f"; the last reason: {reasons[0] if reasons else 'new arguments'}"
        if self.settings.fullgraph:
            raise RecompileLimitExceeded(f"{limit}, and is compiled with fullgraph=True{last}")
        if config.fail_on_recompile_limit_hit:
            raise FailOnRecompileLimitHit(f"{limit}{last}")
        logs.dynamo.warning("torch.compile: %s, and runs eagerly for other arguments%s", limit, last)

    def _stance_forbids(self, reasons: list[str]) -> bool:
        """Whether the call runs eagerly by `torch.compiler.set_stance`."""
        stance = current.stance
        if stance == "fail_on_recompile" or (reasons and config.error_on_recompile):
            last = f": {reasons[0]}" if reasons else ""
            code = self.function.__code__
            place = f"{code.co_filename}:{code.co_firstlineno}"
            raise RecompileError(f"{self.function.__qualname__} ({place}) would be compiled anew{last}")
        if stance == "eager_then_compile":
            self.has_run, ran = True, self.has_run
            return not ran
        return stance in ("force_eager", "eager_on_recompile")

    def _converted(self, values: tuple[Any, ...]) -> tuple[Any, Any]:
        try:
            _capturing.active = True
            conversion = Conversion(self.function, self.start, self.settings, self.continuation, self.policy)

            name = self.function.__qualname__
            with compilation(name), without_garbage_collection(), _without_saved_tensors_hooks():
                return conversion.run(values)
        except Unsupported:
            raise
        except Exception as error:
            if not is_suppressed(error):
                raise
            warn(self.function, error)
        finally:
            _capturing.active = False
        return None, None
