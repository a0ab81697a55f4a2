"""`FxGraphDrawer`, pictures of graphs as SVG, laid out without other programs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from torch_py.fx._annotations import tensor_summary
from torch_py.fx._attributes import get_attr, has_attr
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node, _format_arg, _shown_target
from torch_py.utils import viz

__all__ = ["DotGraph", "FxGraphDrawer"]

_KINDS = {"placeholder": "leaf", "get_attr": "parameter", "output": "result"}


class DotGraph:
    """A picture: boxes for nodes, from inputs at the top to the output, with what flows along the edges."""

    def __init__(self, name: str, picture: viz.Graph) -> None:
        self.name = name
        self.picture = picture

    def get_name(self) -> str:
        return self.name

    def create_svg(self) -> bytes:
        """The text of an SVG file."""
        return viz.to_svg(self.picture).encode()

    def write_svg(self, path: str | os.PathLike[str]) -> bool:
        """Writes an SVG file."""
        Path(path).write_bytes(self.create_svg())
        return True

    def to_string(self) -> str:
        """The graph in the language of Graphviz."""
        lines = [f"digraph {_quoted(self.name)} {{", "node [shape=box];"]
        for number, node in enumerate(self.picture.nodes):
            text = f"{node.title}\n{node.detail}" if node.detail else node.title
            lines.append(f"{number} [label={_quoted(text)}];")
        for (source, target), label in zip(self.picture.edges, self.picture.labels):
            shown = f" [label={_quoted(label)}]" if label else ""
            lines.append(f"{source} -> {target}{shown};")
        return "\n".join([*lines, "}\n"])

    def write_raw(self, path: str | os.PathLike[str]) -> bool:
        """Writes the graph in the language of Graphviz."""
        Path(path).write_text(self.to_string(), encoding="utf-8")
        return True

    write = write_dot = write_raw


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class FxGraphDrawer:
    """Draws a GraphModule, and each GraphModule that it calls.

        drawer = FxGraphDrawer(symbolic_trace(model), "model")
        drawer.get_dot_graph().write_svg("model.svg")

    Boxes show names, what is called, and after ShapeProp the shapes of values.

    Args:
        graph_module: what to draw.
        name: the name of the picture; those of submodules add their paths.
        ignore_getattr: whether nodes that read attributes are left out.
        ignore_parameters_and_buffers: whether boxes leave out how many parameters a module has.
        skip_node_names_in_args: whether boxes show only the arguments that are not nodes.
        parse_stack_trace: whether boxes show the line of the program, if it was recorded.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        name: str,
        ignore_getattr: bool = False,
        ignore_parameters_and_buffers: bool = False,
        skip_node_names_in_args: bool = True,
        parse_stack_trace: bool = False,
        dot_graph_shape: str | None = None,
        normalize_args: bool = False,
    ) -> None:
        self._name = name
        self._ignore_getattr = ignore_getattr
        self._ignore_parameters = ignore_parameters_and_buffers
        self._skip_node_names = skip_node_names_in_args
        self._parse_stack_trace = parse_stack_trace
        self.dot_graph_shape = "record" if dot_graph_shape is None else dot_graph_shape
        self.normalize_args = normalize_args

        self._dot_graphs = {name: self._draw(graph_module, name)}
        for node in graph_module.graph.nodes:
            if node.op == "call_module" and has_attr(graph_module, node.target):
                child = get_attr(graph_module, node.target)
                if isinstance(child, GraphModule):
                    path = f"{name}_{node.target}"
                    self._dot_graphs[path] = self._draw(child, path)

    def get_dot_graph(self, submod_name: str | None = None) -> DotGraph:
        """The picture, or that of the submodule at a path."""
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> DotGraph:
        return self._dot_graphs[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> DotGraph:
        return self._dot_graphs[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, DotGraph]:
        """All pictures by name."""
        return self._dot_graphs

    def _draw(self, module: GraphModule, name: str) -> DotGraph:
        picture = viz.Graph([], [], [])
        place: dict[Node, int] = {}
        for node in module.graph.nodes:
            if self._ignore_getattr and node.op == "get_attr":
                continue
            place[node] = len(picture.nodes)
            kind = _KINDS.get(node.op, "operator")
            picture.nodes.append(viz.GraphNode(node.name, self._detail(module, node), kind))

        for node, target in place.items():
            for value in node.all_input_nodes:
                if value in place:
                    picture.edges.append((place[value], target))
                    known = value.meta.get("val", value.meta.get("tensor_meta"))
                    picture.labels.append(tensor_summary(known))
        return DotGraph(name, picture)

    def _detail(self, module: GraphModule, node: Node) -> str:
        """What the second line of a box says."""
        parts = []
        if node.op == "call_module" and has_attr(module, node.target):
            called = get_attr(module, node.target)
            parts.append(f"{node.target}: {type(called).__name__}")
            count = sum(parameter.numel() for parameter in called.parameters())
            if count and not self._ignore_parameters:
                parts.append(f"{count:,} parameters")
        elif node.op == "call_method":
            parts.append(f".{node.target}")
        elif node.op == "call_function":
            parts.append(_shown_target(node.target))

        constants = self._constants(node)
        if constants:
            parts.append(constants)
        if self._parse_stack_trace and node.stack_trace:
            parts.append(_last_place(node.stack_trace))
        return "  ".join(parts)

    def _constants(self, node: Node) -> str:
        """The arguments that are not nodes, or all."""
        if node.op not in ("call_function", "call_method", "call_module"):
            return ""
        shown = [text for value in node.args if (text := self._shown(value)) is not None] + [
            f"{name}={text}"
            for name, value in node.kwargs.items()
            if (text := self._shown(value)) is not None
        ]
        return ", ".join(shown)

    def _shown(self, value: Any) -> str | None:
        if self._skip_node_names and isinstance(value, Node):
            return None
        text = _format_arg(value, max_list_len=8)
        return None if self._skip_node_names and "%" in text else text


def _last_place(stack_trace: str) -> str:
    """`model.py:12` for a stack."""
    places = [line.strip() for line in stack_trace.split("\n") if line.strip().startswith('File "')]
    file, _, rest = places[-1].removeprefix('File "').partition('", line ')
    return f"{os.path.basename(file)}:{rest.partition(',')[0]}"
