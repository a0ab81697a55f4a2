"""The sizes that vary in a graph of operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_py._shapes.formulas import Formula, Symbol
from torch_py.fx.graph_module import GraphModule


def symbols_of(module: GraphModule) -> list[Symbol]:
    """The symbols that the sizes of a graph's inputs depend on."""
    found: dict[Symbol, None] = {}
    for node in module.graph.find_nodes(op="placeholder"):
        for term in (node.meta["val"], *node.meta.get("sizes", ()), *node.meta.get("strides", ())):
            found.update(dict.fromkeys(_symbols_in(term)))
    return list(found)


def _symbols_in(term: Any) -> Iterator[Symbol]:
    if isinstance(term, Symbol):
        yield term
    elif isinstance(term, Formula):
        for operand in term.operands:
            yield from _symbols_in(operand)
