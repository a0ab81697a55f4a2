"""The front end of `torch.compile`: captures what functions do as FX graphs, by interpreting their byte code.

`entry` makes compiled functions. A call that no compiled code fits goes to `convert` and `conversion`:
`capture` is the state of one capture, `frame` and `handlers` interpret instructions (`decode` knows the
byte code of each version of Python), `calls` decides what a call does, `recorder` has the graph, `journal`
the writes of the program, and `guard_rows` what has to stay as it was. `assemble` prints the compiled
function, with `rebuild` for new objects and `stops` and `resume` for what follows the end of a graph.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

from torch_py._dynamo import config as config
from torch_py._dynamo import exc as exc
from torch_py._dynamo import utils as utils
from torch_py._dynamo.backends.registry import list_backends as list_backends
from torch_py._dynamo.backends.registry import lookup_backend as lookup_backend
from torch_py._dynamo.backends.registry import register_backend as register_backend
from torch_py._dynamo.entry import optimize as optimize
from torch_py._dynamo.entry import reset as reset
from torch_py._dynamo.marks import allow_in_graph as allow_in_graph
from torch_py._dynamo.marks import assume_constant_result as assume_constant_result
from torch_py._dynamo.marks import disable as disable
from torch_py._dynamo.marks import disallow_in_graph as disallow_in_graph
from torch_py._dynamo.marks import forbid_in_graph as forbid_in_graph
from torch_py._dynamo.marks import graph_break as graph_break
from torch_py._dynamo.marks import is_compiling as is_compiling
from torch_py._dynamo.marks import mark_dynamic as mark_dynamic
from torch_py._dynamo.marks import mark_static as mark_static
from torch_py._dynamo.marks import mark_static_address as mark_static_address
from torch_py._dynamo.marks import maybe_mark_dynamic as maybe_mark_dynamic
from torch_py._dynamo.marks import run as run
from torch_py._dynamo.marks import substitute_in_graph as substitute_in_graph
from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.compiler._optimized_module import OptimizedModule as OptimizedModule

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
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "register_backend",
    "reset",
    "reset_code_caches",
    "run",
    "substitute_in_graph",
]

reset_code_caches = reset

_absent = _lacking(__name__, __path__)
# Imported when they are first named: modules, and functions of explaining.py.
_LAZY_MODULES = ("decorators", "eval_frame", "testing")
_LAZY_FUNCTIONS = ("explain", "export")


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py._dynamo.{name}")
    if name in _LAZY_FUNCTIONS:
        return getattr(_importlib.import_module("torch_py._dynamo.explaining"), name)
    return _absent(name)


if TYPE_CHECKING:
    from torch_py._dynamo import testing as testing
    from torch_py._dynamo.explaining import explain as explain
    from torch_py._dynamo.explaining import export as export
