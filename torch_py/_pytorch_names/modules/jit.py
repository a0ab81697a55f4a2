"""`torch.jit`, of which torch_py has the names: `script` and `trace` return their argument, and a warning
says so once.

Decorators that guide compilation leave functions as they are; saving and loading compiled programs raises
NotImplementedError.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn, TypeVar, get_args, get_origin

from torch_py._notices import say_once
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.nn.modules.module import Module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "export_opnames",
    "freeze",
    "fuser",
    "ignore",
    "interface",
    "is_scripting",
    "is_tracing",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "optimized_execution",
    "run_frozen_optimizations",
    "save",
    "script",
    "script_if_tracing",
    "script_method",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
]

Value = TypeVar("Value")
_builtin_isinstance = isinstance


class Error(RuntimeError):
    """An error of compiled programs."""


class TracerWarning(Warning):
    """A warning that tracing has made a value a constant."""


class ScriptModule(Module):
    """A Module to be compiled; here an ordinary Module."""


class RecursiveScriptModule(ScriptModule):
    """A compiled Module in PyTorch; has no instances here."""


TopLevelTracedModule = TracedModule = RecursiveScriptModule


class ScriptFunction:
    """A compiled function in PyTorch; has no instances here."""


def script(
    obj: Value, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None
) -> Value:
    """Returns `obj`, a function, class or Module, as it is; a UserWarning says so once."""
    say_once("torch.jit.script: torch_py has no TorchScript; functions and modules stay as they are")
    return obj


def trace(func: Value, example_inputs: Any = None, *arguments: Any, **options: Any) -> Value:
    """Returns `func`, a function or Module, as it is, without recording; a UserWarning says so once."""
    if func is None or not callable(func):
        raise TypeError(
            f"torch.jit.trace: expected a function or a Module as func, got {type(func).__name__}"
        )
    say_once("torch.jit.trace: torch_py has no TorchScript; functions and modules stay as they are")
    return func


def trace_module(mod: Value, inputs: Any, *arguments: Any, **options: Any) -> Value:
    return trace(mod)


def _unchanged(function: Value) -> Value:
    return function


export = script_method = unused = interface = script_if_tracing = _script_if_tracing = _overload = (
    _overload_method
) = _unchanged


def ignore(drop: Any = False, **options: Any) -> Any:
    """Keeps a function out of compilation, as a decorator with or without arguments: returns it as it is."""
    return drop if callable(drop) else _unchanged


def is_scripting() -> bool:
    return False


def is_tracing() -> bool:
    return False


def annotate(the_type: Any, the_value: Value) -> Value:
    """Returns `the_value`; the type is for the compiler."""
    return the_value


class Attribute(tuple):  # type: ignore[type-arg]
    """`Attribute(value, type)`, a value with a type for the compiler."""

    def __new__(cls, value: Any, type: Any) -> Attribute:
        return super().__new__(cls, (value, type))

    value = property(lambda self: self[0])
    type = property(lambda self: self[1])


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether `obj` is of a type, which may say what containers hold:
    ``list[int]``, ``Dict[str, Tensor]``, ``Optional[int]``."""
    if _builtin_isinstance(target_type, tuple):
        return any(isinstance(obj, kind) for kind in target_type)

    origin = get_origin(target_type)
    parts = get_args(target_type)
    if origin is None:
        return _builtin_isinstance(obj, target_type)

    if not _builtin_isinstance(origin, type) or origin.__name__ in ("Union", "UnionType"):
        return any(obj is None if part is type(None) else isinstance(obj, part) for part in parts)
    if not _builtin_isinstance(obj, origin):
        return False

    if origin is dict:
        return all(isinstance(key, parts[0]) and isinstance(value, parts[1]) for key, value in obj.items())
    if origin is tuple:
        return len(obj) == len(parts) and all(isinstance(value, part) for value, part in zip(obj, parts))
    return all(isinstance(value, parts[0]) for value in obj)


def freeze(mod: Value, *arguments: Any, **options: Any) -> Value:
    """Returns `mod`, which must not be training: parameters stay parameters."""
    if getattr(mod, "training", False):
        raise RuntimeError("torch.jit.freeze: expected a module in evaluation mode; call mod.eval() first")
    return mod


def optimize_for_inference(mod: Value, other_methods: Any = None) -> Value:
    return mod


def run_frozen_optimizations(mod: Any, *arguments: Any, **options: Any) -> None:
    """Does nothing."""


def set_fusion_strategy(strategy: Any) -> list[Any]:
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Does nothing: torch_py does not fuse operators."""


def onednn_fusion_enabled() -> bool:
    return False


@contextlib.contextmanager
def _no_effect(*arguments: Any, **options: Any) -> Iterator[None]:
    yield


fuser = optimized_execution = strict_fusion = _no_effect


def _no_files(function: str) -> NoReturn:
    raise NotImplementedError(
        f"torch.jit.{function}: torch_py has no TorchScript; use torch.save and torch.load with a state_dict"
    )


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    _no_files("save")


def load(
    f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False
) -> NoReturn:
    _no_files("load")


def export_opnames(m: Any) -> NoReturn:
    _no_files("export_opnames")


def _drop(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _unwrap_optional(value: Value | None) -> Value:
    """Returns `value`. Raises AssertionError if it is None."""
    assert value is not None, "Unwrapping null optional"
    return value


__getattr__ = _lacking(__name__)
