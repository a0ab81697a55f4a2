"""The front end of `torch.compile`: captures what functions do as FX graphs, by interpreting their byte code.

`entry` makes compiled functions. A call that no compiled code fits goes to `conversion`: `capture` is the
state of one capture, `frame` and `handlers` interpret instructions (`decode` knows the byte code of each
version of Python), `calls` decides what a call does, `recorder` has the graph, `journal` the writes of the
program, and `sources` what has to stay as it was. `assemble` prints the compiled function, with `makers` for
new objects and `stops` and `resume` for what follows the end of a graph.
"""

from __future__ import annotations

import importlib as _importlib
from typing import Any as _Any

from torch_py._pytorch_names.packages import lacking as _lacking

# Imported when they are first named: functions and classes by their modules, and modules.
_PLACES = {
    "_dynamo.backends.registry": "list_backends lookup_backend register_backend",
    "_dynamo.entry": "reset reset_code_caches",
    "_dynamo.explaining": "explain export",
    "_dynamo.marks": (
        "forbid_in_graph graph_break mark_dynamic mark_static mark_static_address maybe_mark_dynamic run"
    ),
    "compiler._marks": "allow_in_graph assume_constant_result disable disallow_in_graph substitute_in_graph",
    "compiler._compile": "optimize",
    "compiler._questions": "is_compiling",
    "compiler._optimized_module": "OptimizedModule",
}
_OWNERS = {name: place for place, names in _PLACES.items() for name in names.split()}
_MODULES = ("config", "decorators", "eval_frame", "exc", "testing", "utils")
__all__ = [*_OWNERS]

_absent = _lacking(__name__, __path__)


def __getattr__(name: str) -> _Any:
    if name in _OWNERS:
        found = getattr(_importlib.import_module(f"torch_py.{_OWNERS[name]}"), name)
        globals()[name] = found
        return found
    return _importlib.import_module(f"torch_py._dynamo.{name}") if name in _MODULES else _absent(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_OWNERS, *_MODULES})
