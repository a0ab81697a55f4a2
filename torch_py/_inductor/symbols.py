"""The sizes that vary in a graph of operators."""

from __future__ import annotations

from torch_py._shapes.formulas import Symbol, symbols_in
from torch_py.fx.graph_module import GraphModule


def symbols_of(module: GraphModule) -> list[Symbol]:
    """The symbols that the sizes of a graph's inputs depend on, in an order in which they may grow."""
    found: dict[Symbol, None] = {}
    for node in module.graph.find_nodes(op="placeholder"):
        for term in (node.meta["val"], *node.meta.get("sizes", ()), *node.meta.get("strides", ())):
            found.update(dict.fromkeys(sorted(symbols_in(term), key=str)))
    return sorted(found, key=lambda symbol: symbol.rank)
