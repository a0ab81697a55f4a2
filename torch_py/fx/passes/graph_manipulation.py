"""Changes of targets, and sizes of nodes in bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch_py.fx._attributes import get_attr
from torch_py.fx.graph_module import GraphModule
from torch_py.fx.node import Node
from torch_py.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = [
    "get_size_of_all_nodes",
    "get_size_of_node",
    "get_tensor_meta",
    "replace_target_nodes_with",
    "size_bytes",
]


class size_bytes(NamedTuple):  # noqa: N801  # PyTorch's name
    """The bytes of a node's value, and those with its parameters."""

    output_size: int
    total_size: int


def replace_target_nodes_with(
    fx_module: GraphModule,
    old_op: str,
    old_target: Callable[..., Any] | str,
    new_op: str,
    new_target: Callable[..., Any] | str,
) -> None:
    """Lets all nodes that do one thing do another, with the same arguments."""
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            node.op = new_op
            node.target = new_target


def get_tensor_meta(node: Node) -> TensorMetadata:
    """What ShapeProp noted. Raises RuntimeError if it has not run."""
    metadata = node.meta.get("tensor_meta")
    if not metadata:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return metadata


def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """The bytes of the value of a node, and those with the parameters and buffers of the module it calls.

    Raises RuntimeError if ShapeProp has not run.
    """
    sizes: list[int] = []

    def measure(metadata: TensorMetadata) -> None:
        sizes.append(metadata.shape.numel() * metadata.dtype.itemsize)

    _each_metadata(get_tensor_meta(node), measure)
    output = sum(sizes)
    held = 0
    if node.op == "call_module":
        module = get_attr(fx_module, node.target)
        tensors = [*module.parameters(), *module.buffers()]
        held = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
    return size_bytes(output, output + held)


def _each_metadata(known: Any, act: Callable[[TensorMetadata], None]) -> None:
    """Calls `act` for the metadata in a nest. Metadata is itself a tuple."""
    if isinstance(known, TensorMetadata):
        act(known)
    elif isinstance(known, (list, tuple)):
        for each in known:
            _each_metadata(each, act)
    elif isinstance(known, dict):
        _each_metadata(list(known.values()), act)


def get_size_of_all_nodes(fx_module: GraphModule, args: list[Any] | None = None) -> None:
    """Sets `size_bytes` of every node but the output. `args` are examples for ShapeProp, if it has not
    run."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)
