"""Gives a recorded graph the form of an exported one: all state comes in, all changes go out."""

from __future__ import annotations

from typing import Any

from torch_py._tensor import Tensor
from torch_py.export._recording import Recording
from torch_py.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from torch_py.fx.graph import Graph
from torch_py.fx.node import Node, map_arg
from torch_py.nn.modules.module import Module


def lift(
    recording: Recording, module: Module, leaves: list[Any], new_values: dict[Node, Node]
) -> tuple[Graph, ExportGraphSignature]:
    """The graph and its signature. `new_values` are those of the inputs that the graph writes to."""
    lifted = _Lifted(recording, module, leaves)
    for node in recording.nodes:
        if node.op not in ("placeholder", "output", "get_attr"):
            lifted.copy(node)
    lifted.output(new_values)
    lifted.graph.eliminate_dead_code(_is_impure)
    lifted.graph.lint()
    return lifted.graph, lifted.signature


def _is_impure(node: Node) -> bool:
    if node.op in ("placeholder", "output"):
        return True
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


class _Lifted:
    """The new graph while it is made."""

    def __init__(self, recording: Recording, module: Module, leaves: list[Any]) -> None:
        self.recording = recording
        self.graph = Graph()
        self.signature = ExportGraphSignature()
        self.nodes: dict[Node, Node] = {}
        self.parameters = dict(module.named_parameters(remove_duplicate=False))
        self.persistent = set(module.state_dict(keep_vars=True))
        self._inputs(leaves)

    def _inputs(self, leaves: list[Any]) -> None:
        for name, node in self.recording.state.items():
            argument = TensorArgument(self._placeholder(node).name)
            if name in self.parameters:
                spec = InputSpec(InputKind.PARAMETER, argument, name)
            else:
                spec = InputSpec(InputKind.BUFFER, argument, name, persistent=name in self.persistent)
            self.signature.input_specs.append(spec)

        for node in self.recording.nodes:
            if node.op == "get_attr":
                argument = TensorArgument(self._placeholder(node, f"c_{node.target}").name)
                self.signature.input_specs.append(
                    InputSpec(InputKind.CONSTANT_TENSOR, argument, str(node.target))
                )

        for node, leaf in zip(self.recording.leaves, leaves):
            name = self._placeholder(node).name
            argument = TensorArgument(name) if isinstance(leaf, Tensor) else ConstantArgument(name, leaf)
            self.signature.input_specs.append(InputSpec(InputKind.USER_INPUT, argument, None))

    def _placeholder(self, node: Node, name: str | None = None) -> Node:
        made = self.graph.create_node("placeholder", name or node.name, (), {}, name=name or node.name)
        made.target = made.name
        made.meta.update(node.meta)
        self.nodes[node] = made
        return made

    def copy(self, node: Node) -> None:
        """Adds a node with the name of its operator."""
        operator = getattr(node.target, "_opname", None)
        args, kwargs = map_arg((node.args, node.kwargs), self.nodes.__getitem__)
        made = self.graph.create_node(node.op, node.target, args, kwargs, name=operator or node.name)
        made.meta.update(node.meta)
        self.nodes[node] = made

    def output(self, new_values: dict[Node, Node]) -> None:
        """Adds the output: new values of buffers, of inputs, then the results."""
        values = []
        specs = self.signature.output_specs
        for name, node in self.recording.state.items():
            if node in new_values:
                values.append(self.nodes[new_values[node]])
                specs.append(OutputSpec(OutputKind.BUFFER_MUTATION, _argument(values[-1]), name))
        for node in self.recording.leaves:
            if node in new_values:
                values.append(self.nodes[new_values[node]])
                target = self.nodes[node].name
                specs.append(OutputSpec(OutputKind.USER_INPUT_MUTATION, _argument(values[-1]), target))

        for value in self.recording.graph.output_node().args[0]:
            value = self.nodes[value] if isinstance(value, Node) else value
            values.append(value)
            specs.append(OutputSpec(OutputKind.USER_OUTPUT, _argument(value), None))
        self.graph.output(tuple(values))


def _argument(value: Any) -> Any:
    if not isinstance(value, Node):
        return ConstantArgument("", value)
    known = value.meta.get("val")
    if hasattr(known, "dtype"):
        return TensorArgument(value.name)
    return SymFloatArgument(value.name) if isinstance(known, float) else SymIntArgument(value.name)
