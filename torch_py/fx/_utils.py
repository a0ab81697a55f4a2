"""Texts about graphs for logs and errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch_py.fx.graph import Graph
    from torch_py.fx.graph_module import GraphModule
    from torch_py.fx.node import Node


class LazyString:
    """A text that is made when it is shown, for logs that may not be."""

    def __init__(self, func: Callable[..., str], *args: Any, **kwargs: Any) -> None:
        self.func = func
        self.args = args
        self.kwargs = kwargs

    def __str__(self) -> str:
        return self.func(*self.args, **self.kwargs)


def _format_graph_code(name: str, filename: str, graph_str: str) -> str:
    """Printed code below a title."""
    return f"TRACED GRAPH\n {name} {filename} {graph_str}\n"


def lazy_format_graph_code(
    name: str, gm: GraphModule, maybe_id: int | None = None, **kwargs: Any
) -> LazyString:
    """The code of a GraphModule below a title, printed when it is shown."""

    def text() -> str:
        title = name if maybe_id is None else f"{name} {maybe_id}"
        source = gm.print_readable(print_output=False, **kwargs)
        return _format_graph_code(f"===== {title} =====\n", gm.forward.__code__.co_filename, source)

    return LazyString(text)


def first_call_function_nn_module_stack(graph: Graph) -> dict[str, Any] | None:
    """The modules around the first call of a function that was recorded inside of one."""
    for node in graph.nodes:
        if node.op == "call_function" and "nn_module_stack" in node.meta:
            return node.meta["nn_module_stack"]
    return None


def get_node_context(node: Node, num_nodes: int = 2) -> str:
    """A node and those before it, one a line."""
    lines = []
    current = node
    for _ in range(num_nodes):
        lines.append(current.format_node() or "")
        current = current.prev
        if current.op == "root":
            break
    return "\n".join(reversed(lines))
