"""What is said of graphs of operators, in the log and in the folder of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py._logging import artifacts
from torch_py.fx.graph_module import GraphModule


def joint(module: GraphModule, example_inputs: Sequence[Any]) -> None:
    """The graph of forward and backward, before it is split."""
    artifacts.artifact("aot_joint_graph", "joint_graph_readable.py", lambda: readable(module))
    artifacts.write("joint_graph.py", lambda: _script(module, example_inputs))


def operators(module: GraphModule, example_inputs: Sequence[Any]) -> None:
    """One of the graphs that become programs."""
    artifacts.artifact("aot_graphs", "graph_readable.py", lambda: readable(module))
    artifacts.write("graph.py", lambda: _script(module, example_inputs))


def _script(module: GraphModule, example_inputs: Sequence[Any]) -> str:
    # Imported here: few programs write what they compile to files.
    from torch_py.fx._script import script

    return script(module, example_inputs)


def readable(module: Any) -> str:
    return str(module.print_readable(print_output=False))
