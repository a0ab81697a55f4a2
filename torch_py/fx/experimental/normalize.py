"""`NormalizeArgs`, which writes the arguments of calls as their signatures name them."""

from __future__ import annotations

from typing import Any

from torch_py.fx.graph_module import GraphModule
from torch_py.fx.interpreter import Transformer
from torch_py.fx.node import Argument, Node, Target
from torch_py.fx.operator_schemas import normalize_function, normalize_module
from torch_py.fx.proxy import Proxy

__all__ = ["NormalizeArgs"]


class NormalizeArgs(Transformer):
    """Builds a graph with the arguments of functions and layers in normal form: with their defaults, and by
    name if `normalize_to_only_use_kwargs`. Calls whose signature is not known stay as they are.

        normal = NormalizeArgs(symbolic_trace(model)).transform()

    Where overloads differ by the types of arguments, `meta["type"]` of the arguments decides, which ShapeProp
    sets.
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs
        self._types: tuple[Any, dict[str, Any]] = ((), {})

    def run_node(self, n: Node) -> Any:
        """Runs a node, with the types of its arguments at hand."""

        def type_of(value: Any) -> Any:
            return value.meta.get("type") if isinstance(value, Node) else type(value)

        self._types = (
            tuple(type_of(value) for value in n.args),
            {name: type_of(value) for name, value in n.kwargs.items()},
        )
        result = super().run_node(n)
        if n.op != "output" and isinstance(result, Proxy):
            self.node_map[result] = n
            result.node.meta = dict(n.meta)
            result.node.type = n.type
        return result

    def call_function(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Adds a call in normal form."""
        if not callable(target):
            raise AssertionError(f"Expected callable target, got {type(target)}")
        normal = normalize_function(
            target,
            args,
            kwargs,
            self._types[0],
            self._types[1],
            self.normalize_to_only_use_kwargs,
        )
        if normal is None:
            return super().call_function(target, args, kwargs)
        return self.tracer.create_proxy("call_function", target, normal.args, normal.kwargs)

    def call_module(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """Adds a call in normal form."""
        if not isinstance(target, str):
            raise AssertionError(f"Expected str target, got {type(target)}")
        normal = normalize_module(self.module, target, args, kwargs, self.normalize_to_only_use_kwargs)
        if normal is None:
            return super().call_module(target, args, kwargs)
        return super().call_module(target, normal.args, normal.kwargs)
