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
from torch_py.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from torch_py.fx.graph import CodeGen, Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.interpreter import Interpreter, Transformer
from torch_py.fx.node import Node, has_side_effect, map_arg
from torch_py.fx.proxy import Proxy

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
# Imported when they are first named.
_LAZY_MODULES = ("annotate", "experimental", "operator_schemas", "passes", "tensor_type")


def __getattr__(name: str) -> _Any:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"torch_py.fx.{name}")
    if name == "replace_pattern":
        return _importlib.import_module("torch_py.fx.subgraph_rewriter").replace_pattern
    return _absent(name)


if TYPE_CHECKING:
    from torch_py.fx.subgraph_rewriter import replace_pattern
