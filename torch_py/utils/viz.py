"""Draws autograd graphs: the operators that computed a tensor, its parameters, and the shapes between them.

from torch_py.utils.viz import save_graph
save_graph(model(x), "model.svg", parameters=model.named_parameters())
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torch_py._tensor import Tensor
from torch_py.nn.modules.module import Module
from torch_py.utils import _pytree as pytree
from torch_py.utils._layered_layout import place

__all__ = ["Graph", "GraphNode", "graph_of", "save_graph", "to_svg"]


class GraphNode(NamedTuple):
    """A box. `kind` is 'operator', 'parameter', 'leaf' (another tensor that requires grad) or 'result'."""

    title: str
    detail: str
    kind: str


class Graph(NamedTuple):
    """Boxes and the edges between them.

    `edges` are pairs of positions in `nodes`, in the direction of forward; `labels` are the shapes that flow
    along them.
    """

    nodes: list[GraphNode]
    edges: list[tuple[int, int]]
    labels: list[str]


_FILL = {"operator": "#eef2f7", "parameter": "#fde9c9", "leaf": "#d9ecd9", "result": "#dbe7ff"}
_CHARACTER = 7.2
_HEIGHT = 38.0
_MARGIN = 16.0


def _shape(sizes: Any) -> str:
    return "×".join(str(size) for size in sizes) if len(sizes) else "scalar"


class _Collector:
    """Collects the nodes from the results down to the leaves."""

    def __init__(self, names: Mapping[int, str]) -> None:
        self.names = names
        self.graph = Graph([], [], [])
        self.position: dict[Any, int] = {}

    def _add(self, title: str, detail: str, kind: str) -> int:
        self.graph.nodes.append(GraphNode(title, detail, kind))
        return len(self.graph.nodes) - 1

    def add_result(self, name: str, tensor: Tensor) -> None:
        """Adds a result and everything that it depends on."""
        dtype = str(tensor.dtype).removeprefix("torch.")
        if tensor.grad_fn is None:
            kind = "leaf" if tensor.requires_grad else "result"
            self._add(self.names.get(id(tensor), name), f"{_shape(tensor.shape)} {dtype}", kind)
            return

        self._walk(tensor.grad_fn)
        box = self._add(name, f"{_shape(tensor.shape)} {dtype}", "result")
        self._connect(self.position[tensor.grad_fn], box, _shape(tensor.shape))

    def _walk(self, root: Any) -> None:
        """Adds all nodes below `root`, each once."""
        # A list instead of recursion, because graphs are deep.
        waiting = [root]
        found = []
        while waiting:
            node = waiting.pop()
            if node in self.position:
                continue
            self.position[node] = self._describe(node)
            found.append(node)
            waiting.extend(below for below, _ in node.next_functions if below is not None)

        for node in found:
            for below, number in node.next_functions:
                if below is None:
                    continue
                given = below._input_metadata[number] if number < len(below._input_metadata) else None
                label = "" if given is None else _shape(given.shape)
                self._connect(self.position[below], self.position[node], label)

    def _describe(self, node: Any) -> int:
        title = node.name().rpartition("::")[2].rstrip("0123456789").removesuffix("Backward")
        variable = getattr(node, "variable", None) if title == "AccumulateGrad" else None
        if variable is None:
            return self._add(title, "", "operator")
        name = self.names.get(id(variable))
        detail = f"{_shape(variable.shape)} {str(variable.dtype).removeprefix('torch.')}"
        return self._add(name or "leaf", detail, "parameter" if name else "leaf")

    def _connect(self, source: int, target: int, label: str) -> None:
        self.graph.edges.append((source, target))
        self.graph.labels.append(label)


def graph_of(results: Any, parameters: Module | Iterable[tuple[str, Tensor]] | None = None) -> Graph:
    """The graph that computed `results`, a tensor or any nest of tensors.

    `parameters`, a module or (name, tensor) pairs, gives names to leaves. Raises TypeError if `results` does
    not contain a tensor, and ValueError if none of the tensors requires grad.
    """
    tensors = [value for value in pytree.tree_leaves(results) if isinstance(value, Tensor)]
    if not tensors:
        raise TypeError(f"graph_of: expected tensors as results, got {type(results).__name__}")
    if not any(tensor.requires_grad for tensor in tensors):
        raise ValueError("graph_of: none of the results requires grad, so nothing was recorded")

    named = parameters.named_parameters() if isinstance(parameters, Module) else (parameters or ())
    collector = _Collector({id(tensor): name for name, tensor in named})

    for number, tensor in enumerate(tensors):
        collector.add_result("result" if len(tensors) == 1 else f"result {number}", tensor)

    return collector.graph


def to_svg(graph: Graph) -> str:
    """The text of an SVG file that shows the graph, with forward from top to bottom."""
    widths = [max(len(node.title), len(node.detail)) * _CHARACTER + 20 for node in graph.nodes]
    placed = place(widths, _HEIGHT, graph.edges)
    width = placed.width + 2 * _MARGIN
    height = placed.height + 2 * _MARGIN

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {width:.1f} {height:.1f}">',
        "<style>text{font:12px sans-serif;text-anchor:middle}.d{font-size:10px;fill:#555}"
        ".l{font-size:9px;fill:#777}path{fill:none;stroke:#8a94a6}rect{stroke:#8a94a6}</style>",
        f'<rect x="{-_MARGIN}" y="{-_MARGIN}" width="{width:.1f}" height="{height:.1f}" '
        'style="fill:#fff;stroke:none"/>',
        '<defs><marker id="a" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" style="fill:#8a94a6;stroke:none"/></marker></defs>',
    ]
    lines += [_line(route, label) for route, label in zip(placed.routes, graph.labels)]
    lines += [_box(node, x, y, wide) for node, x, y, wide in zip(graph.nodes, placed.x, placed.y, widths)]
    return "\n".join([*lines, "</svg>\n"])


def _line(route: list[tuple[float, float]], label: str) -> str:
    half = _HEIGHT / 2
    points = [(route[0][0], route[0][1] + half), *route[1:-1], (route[-1][0], route[-1][1] - half)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        middle = (y0 + y1) / 2
        path += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
    x = (points[0][0] + points[1][0]) / 2
    y = (points[0][1] + points[1][1]) / 2
    text = f'<text class="l" x="{x:.1f}" y="{y:.1f}">{html.escape(label)}</text>' if label else ""
    return f'<path d="{path}" marker-end="url(#a)"/>{text}'


def _box(node: GraphNode, x: float, y: float, width: float) -> str:
    rounded = 8 if node.kind == "operator" else 2
    lower = 4 if not node.detail else -2
    box = (
        f'<rect x="{x - width / 2:.1f}" y="{y - _HEIGHT / 2:.1f}" width="{width:.1f}" height="{_HEIGHT}" '
        f'rx="{rounded}" fill="{_FILL[node.kind]}"/>'
        f'<text x="{x:.1f}" y="{y + lower:.1f}">{html.escape(node.title)}</text>'
    )
    if not node.detail:
        return box
    return box + f'<text class="d" x="{x:.1f}" y="{y + 12:.1f}">{html.escape(node.detail)}</text>'


def save_graph(
    results: Any,
    path: str | os.PathLike[str],
    parameters: Module | Iterable[tuple[str, Tensor]] | None = None,
) -> Graph:
    """Writes the picture of `graph_of(results, parameters)` to an SVG file and returns the graph."""
    graph = graph_of(results, parameters)
    Path(path).write_text(to_svg(graph), encoding="utf-8")
    return graph
