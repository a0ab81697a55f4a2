"""`Interpreter`, which runs a graph node by node, and `Transformer`, which builds a new graph that way."""

from __future__ import annotations

from typing import Any

from torch_py._pytorch_names.packages import lacking as _lacking
from torch_py.fx import traceback as fx_traceback
from torch_py.fx._interpreter import Interpreter as Interpreter
from torch_py.fx._symbolic_trace import Tracer
from torch_py.fx._utils import LazyString as LazyString
from torch_py.fx.graph import Graph
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Argument, Target, map_aggregate
from torch_py.fx.proxy import Proxy
from torch_py.nn.modules.module import Module

__all__ = ["Interpreter", "Transformer"]


class _TransformerTracer(Tracer):
    """Records for a Transformer: every module is a single node."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.tensor_attrs = {}

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Runs a graph with proxies, and so builds another. Overridden operations return what is to be in their
    place:

        class Swap(Transformer):
            def call_function(self, target, args, kwargs):
                if target is torch.sigmoid:
                    return torch.tanh(*args, **kwargs)
                return super().call_function(target, args, kwargs)

        changed = Swap(symbolic_trace(f)).transform()
    """

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph)
        self.tracer.root = module

    def placeholder(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """Adds an input."""
        default = args[0] if args else None
        node = (
            self.new_graph.placeholder(target, default_value=default)
            if args
            else self.new_graph.placeholder(target)
        )
        return Proxy(node, self.tracer)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """Adds a node that reads an attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Adds a call of a submodule."""
        submodule = self.fetch_attr(target)
        return self.tracer.call_module(submodule, submodule.forward, args, kwargs)

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Adds a call of a function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Builds the new graph and returns a GraphModule with it and the attributes of the old one."""
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            nodes = map_aggregate(result, lambda leaf: leaf.node if isinstance(leaf, Proxy) else leaf)
            self.new_graph.output(nodes)
        return GraphModule(self.module, self.new_graph)


__getattr__ = _lacking(__name__)
