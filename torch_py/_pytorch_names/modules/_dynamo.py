"""`torch._dynamo`, the front end of PyTorch's compiler.

Marks and settings have no effect; what needs a tracer raises NotImplementedError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from torch_py._dynamo import config as config
from torch_py._dynamo import eval_frame as eval_frame
from torch_py._dynamo.eval_frame import OptimizedModule as OptimizedModule
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.compiler import allow_in_graph as allow_in_graph
from torch_py.compiler import assume_constant_result as assume_constant_result
from torch_py.compiler import compile as _compile
from torch_py.compiler import disable as disable
from torch_py.compiler import is_compiling as is_compiling
from torch_py.compiler import list_backends as list_backends
from torch_py.compiler import reset as reset
from torch_py.compiler import substitute_in_graph as substitute_in_graph

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "disallow_in_graph",
    "explain",
    "export",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "reset_code_caches",
    "run",
    "substitute_in_graph",
]


def _as_it_is(fn: Any = None) -> Any:
    return fn


disallow_in_graph = forbid_in_graph = run = _as_it_is
reset_code_caches = reset


def graph_break(msg: str = "") -> None:
    """Does nothing: no graph is captured."""


def mark_dynamic(t: Any, index: Any, **bounds: Any) -> None:
    """Does nothing: no code is specialised on sizes."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """As `mark_dynamic`."""


def mark_static(t: Any, index: Any = None) -> None:
    """As `mark_dynamic`."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """As `mark_dynamic`."""


def optimize(backend: Any = "inductor", **options: Any) -> Callable[[Any], Any]:
    """The older form of `torch.compile`: returns a decorator."""
    options.pop("nopython", None)
    return lambda function: _compile(function, backend=backend)


def _no_tracing(function: str) -> NoReturn:
    raise NotImplementedError(f"torch._dynamo.{function}: torch_py does not trace programs yet")


def explain(f: Any, *arguments: Any, **keywords: Any) -> NoReturn:
    _no_tracing("explain")


def export(f: Any, *arguments: Any, **keywords: Any) -> NoReturn:
    _no_tracing("export")


__getattr__ = _lacking(__name__)
