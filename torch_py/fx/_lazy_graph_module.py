"""GraphModules made by a factory, which other parts of torch choose."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx.graph_module import GraphModule


def _get_graph_module_cls() -> type[GraphModule]:
    return GraphModule


def _make_graph_module(
    *args: Any, graph_module_cls: type[GraphModule] | None = None, **kwargs: Any
) -> GraphModule:
    """A GraphModule, or an instance of `graph_module_cls`."""
    return (graph_module_cls or GraphModule)(*args, **kwargs)


__getattr__ = _lacking(__name__)
