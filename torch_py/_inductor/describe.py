"""What the stages of the compiler write to the log and to the folder of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_py import _logging
from torch_py._inductor.nests import Nest
from torch_py._inductor.stages import CompiledGraph
from torch_py._logging import artifacts
from torch_py.fx._script import script
from torch_py.fx.graph_module import GraphModule

_inductor = _logging.topic("inductor")


def joint(module: GraphModule, example_inputs: Sequence[Any]) -> None:
    """The graph of forward and backward, before it is split."""
    artifacts.artifact("aot_joint_graph", "joint_graph_readable.py", lambda: readable(module))
    artifacts.write("joint_graph.py", lambda: script(module, example_inputs))


def operators(module: GraphModule, example_inputs: Sequence[Any]) -> None:
    """One of the graphs that become programs."""
    artifacts.artifact("aot_graphs", "graph_readable.py", lambda: readable(module))
    artifacts.write("graph.py", lambda: script(module, example_inputs))


def stages(compiled: CompiledGraph) -> None:
    """What a graph has become."""
    artifacts.artifact("ir_pre_fusion", "loops.txt", lambda: compiled.loops)
    artifacts.artifact("ir_post_fusion", "nests.txt", lambda: nests(compiled))
    artifacts.artifact("kernel_code", "kernels.cpp", lambda: compiled.source or "// no kernels")
    artifacts.write("program.txt", compiled.program.debug)

    count = len(compiled.kernels)
    calls = sum(not isinstance(entry, Nest) for entry in compiled.schedule)
    nodes = len(compiled.module.graph.nodes)
    _inductor.info("a graph of %d nodes: %d kernels, %d calls and views", nodes, count, calls)


def nests(compiled: CompiledGraph) -> str:
    """Loops that are shared, with calls and views between them."""
    return "\n".join(str(entry) for entry in compiled.schedule)


def readable(module: Any) -> str:
    return str(module.print_readable(print_output=False))
