"""`torch.jit`: modules and functions that are recorded, saved, and run without their Python code.

`trace` records the operators of an example call. `script` compiles nothing: scripted code runs as
Python, and is recorded symbolically when it is shown or saved.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.jit._annotations import Attribute as Attribute
from torch_py.jit._annotations import Value as _Value
from torch_py.jit._annotations import annotate as annotate
from torch_py.jit._annotations import export as export
from torch_py.jit._annotations import ignore as ignore
from torch_py.jit._annotations import isinstance as isinstance
from torch_py.jit._annotations import unchanged as _unchanged
from torch_py.jit._annotations import unused as unused
from torch_py.jit._modules import Error as Error
from torch_py.jit._modules import RecursiveScriptModule as RecursiveScriptModule
from torch_py.jit._modules import ScriptFunction as ScriptFunction
from torch_py.jit._modules import ScriptModule as ScriptModule
from torch_py.jit._modules import TopLevelTracedModule as TopLevelTracedModule
from torch_py.jit._modules import TracedModule as TracedModule
from torch_py.jit._saving import load as load
from torch_py.jit._saving import save as save
from torch_py.jit._script import freeze as freeze
from torch_py.jit._script import optimize_for_inference as optimize_for_inference
from torch_py.jit._script import run_frozen_optimizations as run_frozen_optimizations
from torch_py.jit._script import script as script
from torch_py.jit._state import is_scripting as is_scripting
from torch_py.jit._state import is_tracing as is_tracing
from torch_py.jit._trace import TracerWarning as TracerWarning
from torch_py.jit._trace import TracingCheckError as TracingCheckError
from torch_py.jit._trace import trace as trace
from torch_py.jit._trace import trace_module as trace_module

__all__ = [
    "Attribute",
    "Error",
    "Final",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "TracerWarning",
    "TracingCheckError",
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

script_method = interface = script_if_tracing = _script_if_tracing = _overload = _overload_method = _unchanged


def set_fusion_strategy(strategy: Any) -> list[Any]:
    """Has no effect: graphs run operator by operator. Returns the strategy before, an empty list."""
    return []


def enable_onednn_fusion(enabled: bool) -> None:
    """Has no effect: graphs run operator by operator."""


def onednn_fusion_enabled() -> bool:
    """False: graphs run operator by operator."""
    return False


@contextlib.contextmanager
def _no_effect(*arguments: Any, **options: Any) -> Iterator[None]:
    """A block like any other: graphs run operator by operator."""
    yield


fuser = optimized_execution = strict_fusion = _no_effect


def export_opnames(m: Any) -> NoReturn:
    """Raises NotImplementedError: files have no list of operators. `m.graph` has them."""
    raise NotImplementedError("torch.jit.export_opnames: read the operators from the nodes of m.graph")


def _drop(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def _unwrap_optional(value: _Value | None) -> _Value:
    """Returns `value`. Raises AssertionError if it is None."""
    assert value is not None, "Unwrapping null optional"
    return value


__getattr__ = _lacking(__name__, __path__)
