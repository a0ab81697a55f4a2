"""Programs as graphs: recorded from modules and functions, changed, run and printed as Python.

    traced = symbolic_trace(model)
    for node in traced.graph.nodes: ...
    traced.recompile()

docs/fx.md is an introduction.
"""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING
from typing import Any as _Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx.graph import CodeGen, Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, has_side_effect, map_arg

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]

_absent = _lacking(__name__, __path__)
# Imported when they are first named: modules, and names with their modules. Compilers do without tracing.
_LAZY_MODULES = (
    "_symbolic_trace", "annotate", "experimental", "interpreter", "operator_schemas", "passes", "proxy",
    "tensor_type", "traceback",
)  # fmt: skip
_LAZY_NAMES = {
    "Interpreter": "interpreter",
    "PH": "_symbolic_trace",
    "Proxy": "proxy",
    "ProxyableClassMeta": "_symbolic_trace",
    "Tracer": "_symbolic_trace",
    "Transformer": "interpreter",
    "replace_pattern": "subgraph_rewriter",
    "symbolic_trace": "_symbolic_trace",
    "wrap": "_symbolic_trace",
}


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.fx.{name}")
    if name in _LAZY_NAMES:
        found = getattr(_importlib.import_module(f"torch_py.fx.{_LAZY_NAMES[name]}"), name)
        globals()[name] = found
        return found
    return _absent(name)


if TYPE_CHECKING:
    from torch_py.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
    from torch_py.fx.interpreter import Interpreter, Transformer
    from torch_py.fx.proxy import Proxy
    from torch_py.fx.subgraph_rewriter import replace_pattern
